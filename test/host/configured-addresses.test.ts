import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfiguredAddresses } from '../../src/host/configured-addresses.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'egretta-configured-'))
})
afterEach(() => rmSync(root, { recursive: true }))

const write = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
const found = () => readConfiguredAddresses(root).map(({ address }) => address)

describe('addresses in configuration files', () => {
  it.each([
    [
      '/etc/NetworkManager/system-connections/eth1.nmconnection',
      `[connection]
id=eth1
[ipv4]
address1=198.51.100.11/24,198.51.100.1
address2=198.51.100.50/32
# address3=198.51.100.99/32
dns=203.0.113.53;
method=manual
route1=10.0.0.0/8,198.51.100.1
[ipv6]
addresses=2001:DB8:1::11/64;2001:db8:1::50/128;
`,
      ['198.51.100.11', '198.51.100.50', '2001:db8:1::11', '2001:db8:1::50'],
    ],
    [
      '/etc/sysconfig/network-scripts/ifcfg-eth1',
      `DEVICE=eth1
IPADDR="198.51.100.11"
PREFIX=24
IPADDR1=198.51.100.50
GATEWAY=198.51.100.1
DNS1=203.0.113.53
IPV6ADDR=2001:db8:1::11/64
IPV6ADDR_SECONDARIES="2001:db8:1::50/128 2001:db8:1::51/128"
`,
      ['198.51.100.11', '198.51.100.50', '2001:db8:1::11', '2001:db8:1::50', '2001:db8:1::51'],
    ],
    [
      '/etc/systemd/network/10-eth1.network',
      `[Match]
Name=eth1
[Network]
Address=198.51.100.11/24
Gateway=198.51.100.1
DNS=203.0.113.53
[Address]
Address = 198.51.100.50/32
Peer=198.51.100.77/32
`,
      ['198.51.100.11', '198.51.100.50'],
    ],
    [
      '/etc/network/interfaces',
      `auto eth1
iface eth1 inet static
  address 198.51.100.11/24
  gateway 198.51.100.1
  up ip addr add 198.51.100.50/32 dev $IFACE
  up /sbin/ip -4 address add 198.51.100.51/32 dev $IFACE
  up ip route add 10.0.0.0/8 via 198.51.100.1
iface eth1 inet6 static
  address 2001:db8:1::11
  netmask 64
`,
      ['198.51.100.11', '198.51.100.50', '198.51.100.51', '2001:db8:1::11'],
    ],
    [
      '/etc/netplan/01.yaml',
      `network:
  ethernets:
    eth1:
      addresses:
        - 198.51.100.11/24
        - "198.51.100.50/32":
            label: eth1:1
      gateway4: 198.51.100.1
      nameservers:
        addresses: [203.0.113.53]
      routes:
        - to: 10.0.0.0/8
          via: 198.51.100.1
    eth2:
      addresses: [2001:db8:1::11/64, "2001:db8:1::50/128"]
`,
      ['198.51.100.11', '198.51.100.50', '2001:db8:1::11', '2001:db8:1::50'],
    ],
  ])('are found in %s', (path, text, expected) => {
    write(path, text)
    expect(found()).toEqual(expected)
    expect(readConfiguredAddresses(root)[0]?.file).toBe(path)
  })

  it('are sorted by file, whichever program it belongs to', () => {
    write('/etc/systemd/network/a.network', 'Address=198.51.100.11/24\n')
    write('/etc/netplan/b.yaml', '- 198.51.100.12/24\n')
    expect(readConfiguredAddresses(root).map(({ file }) => file)).toEqual(['/etc/netplan/b.yaml', '/etc/systemd/network/a.network'])
  })

  it('are none where there are no such files, and in what is no file of theirs', () => {
    expect(found()).toEqual([])
    write('/etc/systemd/network/10-eth1.netdev', 'Address=198.51.100.11/24\n')
    write('/etc/sysconfig/network-scripts/route-eth1', 'IPADDR=198.51.100.11\n')
    write('/etc/network/interfaces.dpkg-old', 'address 198.51.100.11\n')
    symlinkSync('nowhere', join(root, '/etc/systemd/network/dangling.network'))
    expect(found()).toEqual([])
  })
})
