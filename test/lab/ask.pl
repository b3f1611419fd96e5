#!/usr/bin/perl
# ask.pl DEVICE SOURCE RATE TARGET...: asks who has the targets, one after the other, RATE questions a second, until it is ended.
# IPv4: an ARP request to everybody; IPv6: a neighbor solicitation to the target's solicited-node group.
# Raw frames: the kernel would ask only when its own cache has no answer.
use strict;
use warnings;
use Socket qw(inet_pton AF_INET AF_INET6);

my ($device, $source, $rate, @targets) = @ARGV;
socket(my $socket, 17, 3, 0) or die "AF_PACKET: $!";    # PF_PACKET, SOCK_RAW, receive nothing
my $mac = substr(request(0x8927), 18, 6);               # SIOCGIFHWADDR
my $index = unpack('x16 i', request(0x8933));           # SIOCGIFINDEX
my @frames = map { /:/ ? solicitation($_) : arp($_) } @targets;
my @to = map { pack('S n i S C C a8', 17, unpack('x12 n', $_), $index, 0, 0, 6, $_) } @frames;    # struct sockaddr_ll
for (my $next = 0;; $next = ($next + 1) % @frames) {
    send($socket, $frames[$next], 0, $to[$next]) or warn "send: $!\n";
    select(undef, undef, undef, 1 / $rate);
}

sub request {
    my $ifreq = pack('a16 x24', $device);
    ioctl($socket, $_[0], $ifreq) or die "$device: $!";
    return $ifreq;
}

sub arp {
    my ($spa, $tpa) = map { inet_pton(AF_INET, $_) } $source, @_;
    return "\xff" x 6 . $mac . pack('n n n C C n', 0x0806, 1, 0x0800, 6, 4, 1) . $mac . $spa . "\0" x 6 . $tpa;
}

sub solicitation {
    my ($from, $wanted) = map { inet_pton(AF_INET6, $_) } $source, @_;
    my $group = inet_pton(AF_INET6, 'ff02::1:ff00:0');
    substr($group, 13, 3) = substr($wanted, 13, 3);
    my $message = pack('C C n N', 135, 0, 0, 0) . $wanted . "\x01\x01" . $mac;
    substr($message, 2, 2) = pack('n', checksum($from . $group . pack('N N', length $message, 58) . $message));
    return "\x33\x33" . substr($group, 12, 4) . $mac . pack('n N n C C', 0x86dd, 0x60000000, length $message, 58, 255) . $from . $group . $message;
}

sub checksum {
    my $sum = 0;
    $sum += $_ for unpack('n*', $_[0]);
    $sum = ($sum & 0xffff) + ($sum >> 16) while $sum >> 16;
    return ~$sum & 0xffff;
}
