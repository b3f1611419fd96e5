import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clipped, code, fenced, htmlCode, prose } from '../../src/plan/escape.js'

/** The text as a browser shows it. */
const shown = (html: string): string =>
  html.replace(/<\/?code>/g, '').replace(/&#(\d+);/g, (_, number) => String.fromCodePoint(Number(number)))

describe('prose', () => {
  it('leaves sentences and addresses as they are', () => {
    const sentence = '192.0.2.50 of eip-a is on no node: all 2 nodes (node-a, node-b) have "no" network; 2001:db8::50, too.'
    expect(prose(sentence)).toBe(sentence)
  })
  it('forms no markup, HTML, link or mention', () => {
    expect(prose('<script>x</script>')).toBe('&#60;script&#62;x&#60;/script&#62;')
    expect(prose('a | b\\|')).toBe('a &#124; b&#92;&#124;')
    expect(prose('![x](y) *b* _i_ ~s~ `c` $m$ &amp;')).not.toMatch(/[[\]*_~`$!]|&(?!#)/)
    expect(prose('@org/team #12')).toBe('<code>@</code>org/team <code>#</code>12')
    expect(prose('https://x.example www.x.example WWW.y')).toBe('https&#58;//x.example www&#46;x.example WWW&#46;y')
  })
  it('is shown as it was written', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        expect(shown(prose(text))).toBe(text)
        expect(prose(text).replace(/<\/?code>|&#\d+;|<code>[@#]<\/code>/g, '')).not.toMatch(/[\\`*_{}[\]<>&|~!$]/)
        expect(prose(text).replace(/<code>[@#]<\/code>|&#\d+;/g, '')).not.toMatch(/[@#]|:\/\/|\bwww\./i)
      }),
    )
  })
})

describe('code', () => {
  it('is a code span where one can hold the text, in a table too', () => {
    expect(code('eip-a')).toBe('`eip-a`')
    expect(code('@here <b>')).toBe('`@here <b>`')
    expect(code('2001:db8::50')).toBe('`2001:db8::50`')
  })
  it.each(['a`b', 'a|b', 'a\\', ' a', 'a ', '', '`'])('writes references where it cannot: %j', (text) => {
    expect(code(text)).toMatch(/^<code>(?:[\p{L}\p{N} ]|&#\d+;)*<\/code>$/u)
    expect(shown(code(text))).toBe(text)
  })
  it('is never ended by the text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(code(text)).toMatch(/^(?:`[^`|\\]+`|<code>[^<>`|\\]*<\/code>)$/u)
        expect(htmlCode(text)).toMatch(/^<code>[^<>]*<\/code>$/u)
      }),
    )
  })
})

describe('fenced', () => {
  it('has a fence that no line of it can end', () => {
    expect(fenced('diff', ['+ a'])).toBe('```diff\n+ a\n```')
    expect(fenced('diff', [' ````', '+ a'])).toBe('`````diff\n ````\n+ a\n`````')
  })
})

describe('clipped', () => {
  it('marks what it leaves out', () => {
    expect(clipped('12345', 5)).toBe('12345')
    expect(clipped('123456', 5)).toBe('1234…')
  })
})
