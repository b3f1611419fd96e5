#!/usr/bin/perl
# visit.pl tcp|udp|icmp SOURCE TARGET PORT [SOURCEPORT]: asks a station (station.pl) which address it sees, and prints the answer.
# icmp asks for an echo, which says no more than that the answer found its way.
# It asks three times, half a second each: on a busy machine one packet may be late. Ends with 1 and prints nothing when nothing comes.
use strict;
use warnings;
use Socket qw(:DEFAULT inet_pton pack_sockaddr_in6 AF_INET6);
use Time::HiRes qw(ualarm);

my ($protocol, $source, $target, $port, $from) = @ARGV;
my $family = $target =~ /:/ ? AF_INET6 : AF_INET;
my ($type, $number) = @{{ tcp => [SOCK_STREAM, 6], udp => [SOCK_DGRAM, 17], icmp => [SOCK_RAW, $family == AF_INET ? 1 : 58] }->{$protocol}};
$SIG{ALRM} = sub { die "late\n" };
for (1 .. 3) {
    my $answer = eval { ualarm(500_000); ask() };
    ualarm(0);
    die $@ if $@ && $@ ne "late\n";
    next if !$answer;
    print $answer;
    exit 0;
}
exit 1;

sub ask {
    socket(my $socket, $family, $type, $number) or die "socket: $!";
    setsockopt($socket, SOL_SOCKET, SO_REUSEADDR, 1);
    bind($socket, at($protocol eq 'icmp' ? 0 : $from // 0, $source)) or die "$source: $!";
    connect($socket, at($protocol eq 'icmp' ? 0 : $port, $target)) or return;
    return echo($socket) if $protocol eq 'icmp';
    syswrite($socket, "who am I\n") if $protocol eq 'udp';
    sysread($socket, my $answer, 2048);
    return $answer;
}

# The kernel fills in the checksum of ICMPv6 (RFC 3542), not that of ICMP.
sub echo {
    my ($socket) = @_;
    my ($question, $reply) = $family == AF_INET ? (8, 0) : (128, 129);
    my $message = pack('C C n n n', $question, 0, 0, $$ & 0xffff, 1);
    substr($message, 2, 2) = pack('n', checksum($message)) if $family == AF_INET;
    syswrite($socket, $message);
    while (sysread($socket, my $packet, 2048)) {
        my ($type, $id) = unpack('C x3 n', $family == AF_INET ? substr($packet, 20) : $packet);
        return "answered\n" if $type == $reply && $id == ($$ & 0xffff);
    }
    return;
}

sub at {
    my ($port, $address) = @_;
    my $bytes = inet_pton($family, $address);
    return $family == AF_INET ? pack_sockaddr_in($port, $bytes) : pack_sockaddr_in6($port, $bytes);
}

sub checksum {
    my $sum = 0;
    $sum += $_ for unpack('n*', $_[0]);
    $sum = ($sum & 0xffff) + ($sum >> 16) while $sum >> 16;
    return ~$sum & 0xffff;
}
