import { describe, expect, it } from 'vitest';
import { buildPingCommand, isPingHost, parsePing, type PingOptions } from '../../../../services/kit/platform/ping.ts';

const options: PingOptions = { host: 'nas.example', count: 3, timeoutMs: 2000, size: 64, family: undefined };

describe('buildPingCommand', () => {
  it.each([
    ['linux', undefined, 'ping -n -c 3 -W 2 -s 64 -- nas.example'],
    ['linux', 'ipv4', 'ping -n -c 3 -W 2 -4 -s 64 -- nas.example'],
    ['linux', 'ipv6', 'ping -n -c 3 -W 2 -6 -s 64 -- nas.example'],
    ['darwin', undefined, 'ping -n -c 3 -W 2000 -s 64 -- nas.example'],
    ['darwin', 'ipv4', 'ping -n -c 3 -W 2000 -s 64 -- nas.example'],
    ['darwin', 'ipv6', 'ping6 -n -c 3 -s 64 -- nas.example'],
    ['win32', undefined, 'ping -n 3 -w 2000 -l 64 nas.example'],
    ['win32', 'ipv4', 'ping -n 3 -w 2000 -4 -l 64 nas.example'],
    ['win32', 'ipv6', 'ping -n 3 -w 2000 -6 -l 64 nas.example'],
  ] as const)('uses the options of %s for the family %s', (platform, family, expected) => {
    const { file, args } = buildPingCommand({ ...options, family }, platform);
    expect([file, ...args].join(' ')).toBe(expected);
  });

  it('uses the program for IPv6 of macOS for an address of IPv6', () => {
    expect(buildPingCommand({ ...options, host: 'fe80::1' }, 'darwin').file).toBe('ping6');
  });

  it('asks for output in English where the language follows a variable', () => {
    expect(buildPingCommand(options, 'linux').environment).toEqual({ LC_ALL: 'C' });
    expect(buildPingCommand(options, 'darwin').environment).toEqual({ LC_ALL: 'C' });
  });

  it('refuses hosts that Windows would take for options', () => {
    for (const host of ['-t', '/?']) expect(isPingHost(host, 'win32')).toBe(false);
    for (const host of ['-t', '/?']) expect(isPingHost(host, 'linux')).toBe(true);
    expect(isPingHost('nas.example', 'win32')).toBe(true);
  });
});

/** Output of Windows in several languages: title, answers, statistics. */
const windowsAnswers: Readonly<Record<string, readonly [answers: readonly string[], times: readonly number[]]>> = {
  English: [
    ['Reply from 192.0.2.1: bytes=32 time=12ms TTL=56', 'Reply from 192.0.2.1: bytes=32 time<1ms TTL=56'],
    [12, 1],
  ],
  German: [
    ['Antwort von 192.0.2.1: Bytes=32 Zeit=12ms TTL=56', 'Antwort von 192.0.2.1: Bytes=32 Zeit<1ms TTL=56'],
    [12, 1],
  ],
  French: [
    [
      'R\uFFFDponse de 192.0.2.1\u00A0: octets=32 temps=12 ms TTL=56',
      'R\uFFFDponse de 192.0.2.1 : octets=32 temps<1ms TTL=56',
    ],
    [12, 1],
  ],
  Russian: [['\uFFFD\uFFFD 192.0.2.1: \uFFFD\uFFFD=32 \uFFFD\uFFFD=12\uFFFD\uFFFD TTL=56'], [12]],
  'English, IPv6': [
    ['Reply from 2001:db8::1: time=12ms', 'Reply from fe80::1%12: time<1ms'],
    [12, 1],
  ],
  'German, IPv6': [['Antwort von 2001:db8::1: Zeit=12ms'], [12]],
  'English, fragment': [['Reply from 192.0.2.1: bytes=68 (sent 1472) time=12ms TTL=118'], [12]],
};

const englishStatistics = [
  '',
  'Ping statistics for 192.0.2.1:',
  '    Packets: Sent = 2, Received = 2, Lost = 0 (0% loss),',
  'Approximate round trip times in milli-seconds:',
  '    Minimum = 0ms, Maximum = 12ms, Average = 6ms',
];
const frenchStatistics = [
  '',
  'Statistiques Ping pour 192.0.2.1:',
  '    Paquets : envoy\uFFFDs = 2, re\uFFFDus = 2, perdus = 0 (perte 0%),',
  'Dur\uFFFDe approximative des boucles en millisecondes :',
  '    Minimum = 0ms, Maximum = 12ms, Moyenne = 6ms',
];

describe('parsePing on Windows', () => {
  it.each(Object.entries(windowsAnswers))('reads the times of answers in %s', (_language, [answers, times]) => {
    for (const statistics of [englishStatistics, frenchStatistics]) {
      const lines = ['', 'Pinging nas.example [192.0.2.1] with 32 bytes of data:', ...answers, ...statistics];
      expect(parsePing({ stdout: lines.join('\r\n'), stderr: '', code: 0 }, 'win32')).toEqual({ times, message: '' });
    }
  });

  it.each([
    ['Reply from 192.0.2.9: Destination host unreachable.', 0, 'Reply from 192.0.2.9: Destination host unreachable.'],
    ['Antwort von 192.0.2.9: Zielhost nicht erreichbar.', 0, 'Antwort von 192.0.2.9: Zielhost nicht erreichbar.'],
    ['R\uFFFDponse de 192.0.2.9 : Impossible de joindre l\uFFFDh\uFFFDte de destination.', 0, ''],
    ['Reply from 192.0.2.9: TTL expired in transit.', 0, 'Reply from 192.0.2.9: TTL expired in transit.'],
    ['Request timed out.', 1, ''],
    ['Zeit\uFFFDberschreitung der Anforderung.', 1, ''],
  ])('counts "%s" with exit code %i as no answer', (line, code, message) => {
    const lines = ['', 'Pinging 192.0.2.1 with 32 bytes of data:', line, ...englishStatistics.slice(0, 3)];
    expect(parsePing({ stdout: lines.join('\r\n'), stderr: '', code }, 'win32')).toEqual({ times: [], message });
  });

  it('returns the sentence about an unknown host', () => {
    const stdout = 'Ping request could not find host nas.example. Please check the name and try again.\r\n';
    expect(parsePing({ stdout, stderr: '', code: 1 }, 'win32')).toEqual({ times: [], message: stdout.trim() });
  });
});

describe('parsePing on Linux and macOS', () => {
  it.each([
    ['linux', '64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=12.3 ms', 12.3],
    ['darwin', '64 bytes from 192.0.2.1: icmp_seq=0 ttl=57 time=12.345 ms', 12.345],
    ['darwin', '16 bytes from 2001:db8::1, icmp_seq=0 hlim=64 time=0.072 ms', 0.072],
  ] as const)('reads the time of an answer on %s: %s', (platform, stdout, time) => {
    expect(parsePing({ stdout, stderr: '', code: 0 }, platform)).toEqual({ times: [time], message: '' });
  });

  it('returns the first line of the error output', () => {
    const unknown = 'ping: cannot resolve nas.example: Unknown host\n';
    expect(parsePing({ stdout: '', stderr: unknown, code: 68 }, 'darwin').message).toBe(unknown.trim());
    const lost = 'PING 192.0.2.1 (192.0.2.1): 56 data bytes\nRequest timeout for icmp_seq 0\n';
    expect(parsePing({ stdout: lost, stderr: '', code: 2 }, 'darwin')).toEqual({ times: [], message: '' });
  });
});
