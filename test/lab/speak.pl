#!/usr/bin/perl
# speak.pl DEVICE SOURCE PEER RATE: sends UDP from SOURCE to PEER, RATE times a second, until it is ended, and makes the kernel
# forget PEER each time. So its kernel keeps asking for PEER with SOURCE as the sender: what turns a client back to this node.
use strict;
use warnings;
use Socket qw(inet_pton pack_sockaddr_in pack_sockaddr_in6 AF_INET AF_INET6 SOCK_DGRAM);

my ($device, $source, $peer, $rate) = @ARGV;
my $family = $source =~ /:/ ? AF_INET6 : AF_INET;
socket(my $socket, $family, SOCK_DGRAM, 0) or die "socket: $!";
bind($socket, at(0, $source)) or die "$source: $!";
while (1) {
    system("ip neigh del '$peer' dev '$device' 2>/dev/null");
    send($socket, 'egretta', 0, at(9, $peer));
    select(undef, undef, undef, 1 / $rate);
}

sub at {
    my ($port, $address) = @_;
    my $bytes = inet_pton($family, $address);
    return $family == AF_INET ? pack_sockaddr_in($port, $bytes) : pack_sockaddr_in6($port, $bytes);
}
