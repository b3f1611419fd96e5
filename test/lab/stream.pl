#!/usr/bin/perl
# stream.pl new|one SOURCE TARGET PORT RATE: sends UDP to TARGET, RATE packets a second, until it is ended.
# new: each packet from a port of its own, so that each is a new flow; one: all from one port, one flow.
use strict;
use warnings;
use Socket qw(:DEFAULT inet_pton pack_sockaddr_in6 AF_INET6);
use Time::HiRes qw(time sleep);

my ($flows, $source, $target, $port, $rate) = @ARGV;
my $family = $target =~ /:/ ? AF_INET6 : AF_INET;
my $to = at($port, $target);
my ($socket, $from) = (undef, 10000);
open_socket();
my $start = time;
for (my $sent = 0;; $sent++) {
    # Towards the time that is due: a busy machine makes it late, not slow.
    my $early = $start + $sent / $rate - time;
    sleep($early) if $early > 0;
    open_socket() if $flows eq 'new' && $sent > 0;
    send($socket, "egretta\n", 0, $to);
}

sub open_socket {
    socket($socket, $family, SOCK_DGRAM, 0) or die "socket: $!";
    for (1 .. 50000) {
        $from = $from < 59999 ? $from + 1 : 10000;
        return if bind($socket, at($from, $source));
    }
    die "$source: $!";
}

sub at {
    my ($port, $address) = @_;
    my $bytes = inet_pton($family, $address);
    return $family == AF_INET ? pack_sockaddr_in($port, $bytes) : pack_sockaddr_in6($port, $bytes);
}
