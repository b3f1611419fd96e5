#!/usr/bin/perl
# stray.pl SOURCE TARGET COUNT: sends TCP resets of connections that never were, each from a port of its own. Connection tracking calls
# such a packet invalid and never translates its address.
use strict;
use warnings;
use Socket qw(:DEFAULT inet_pton pack_sockaddr_in6 AF_INET6);

my ($source, $target, $count) = @ARGV;
my $family = $target =~ /:/ ? AF_INET6 : AF_INET;
my ($from, $to) = map { inet_pton($family, $_) } $source, $target;
socket(my $socket, $family, SOCK_RAW, 6) or die "socket: $!";
my $any = $family == AF_INET ? pack_sockaddr_in(0, $from) : pack_sockaddr_in6(0, $from);
bind($socket, $any) or die "$source: $!";
for my $port (20000 .. 19999 + $count) {
    my $segment = pack('n n N N C C n n n', $port, 7, $port, 0, 5 << 4, 4, 0, 0, 0);
    my $pseudo = $family == AF_INET ? pack('a4 a4 C C n', $from, $to, 0, 6, length $segment) : pack('a16 a16 N N', $from, $to, length $segment, 6);
    substr($segment, 16, 2) = pack('n', checksum($pseudo . $segment));
    send($socket, $segment, 0, $family == AF_INET ? pack_sockaddr_in(0, $to) : pack_sockaddr_in6(0, $to)) or die "send: $!";
}

sub checksum {
    my $sum = 0;
    $sum += $_ for unpack('n*', $_[0]);
    $sum = ($sum & 0xffff) + ($sum >> 16) while $sum >> 16;
    return ~$sum & 0xffff;
}
