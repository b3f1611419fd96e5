declare module 'json-diff' {
  /** The differences as lines that begin with `+`, `-` or a blank; empty when there are none. */
  export function diffString(before: unknown, after: unknown, options: { readonly color: boolean }): string
}
