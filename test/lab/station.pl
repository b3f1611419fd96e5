#!/usr/bin/perl
# station.pl PORT ADDRESS...: says to everyone who comes, over TCP or UDP, which address it saw him come from.
# It listens on each address by itself, so that a UDP answer comes from the address that was asked.
use strict;
use warnings;
use Socket qw(:DEFAULT inet_pton inet_ntop pack_sockaddr_in6 unpack_sockaddr_in6 AF_INET6);

my ($port, @addresses) = @ARGV;
my ($listening, %sockets) = ('');
for my $address (@addresses) {
    for my $type (SOCK_STREAM, SOCK_DGRAM) {
        my $family = $address =~ /:/ ? AF_INET6 : AF_INET;
        socket(my $socket, $family, $type, 0) or die "socket: $!";
        setsockopt($socket, SOL_SOCKET, SO_REUSEADDR, 1);
        my $bytes = inet_pton($family, $address);
        bind($socket, $family == AF_INET ? pack_sockaddr_in($port, $bytes) : pack_sockaddr_in6($port, $bytes)) or die "$address: $!";
        listen($socket, 64) if $type == SOCK_STREAM;
        vec($listening, fileno $socket, 1) = 1;
        $sockets{fileno $socket} = [$socket, $family, $type];
    }
}
$| = 1;
print "listening\n";
while (1) {
    select(my $ready = $listening, undef, undef, undef) > 0 or next;
    for my $number (grep { vec($ready, $_, 1) } keys %sockets) {
        my ($socket, $family, $type) = @{$sockets{$number}};
        if ($type == SOCK_STREAM) {
            my $peer = accept(my $client, $socket) or next;
            syswrite($client, name($family, $peer) . "\n");
        } else {
            my $peer = recv($socket, my $message, 2048, 0);
            send($socket, name($family, $peer) . "\n", 0, $peer) if defined $peer;
        }
    }
}

sub name {
    my ($family, $peer) = @_;
    my ($port, $bytes) = $family == AF_INET ? unpack_sockaddr_in($peer) : unpack_sockaddr_in6($peer);
    return inet_ntop($family, $bytes);
}
