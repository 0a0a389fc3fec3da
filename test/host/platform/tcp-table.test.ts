import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { findPortHolder } from '../../../main/host/platform/port-holder.ts';
import { findRange, listReservedPorts, parseReservedPorts } from '../../../main/host/platform/reserved-ports.ts';
import { isListener, isWildcardListener, parseNetstat } from '../../../main/host/platform/tcp-table.ts';
import { createWildcardCheck } from '../../../main/host/platform/wildcard-ports.ts';
import { standInPrograms } from '../../support/program-stand-ins.ts';

/** Output of `netstat -ano` in German; the state of UDP sockets is empty. */
const german = [
  '',
  'Aktive Verbindungen',
  '',
  '  Proto  Lokale Adresse         Remoteadresse          Status           PID',
  '  TCP    0.0.0.0:8080           0.0.0.0:0              ABHÖREN         71',
  '  TCP    127.0.0.1:8000         0.0.0.0:0              ABHÖREN         72',
  '  TCP    127.0.0.1:8000         127.0.0.1:50000        HERGESTELLT     72',
  '  TCP    127.0.0.1:50000        127.0.0.1:8000         HERGESTELLT     73',
  '  TCP    [::]:9000              [::]:0                 ABHÖREN         74',
  '  UDP    0.0.0.0:5353           *:*                                    75',
].join('\r\n');

describe('table of sockets on Windows', () => {
  it('is parsed without reading the translated state', () => {
    const sockets = parseNetstat(german);
    expect(sockets.map(({ pid }) => pid)).toEqual([71, 72, 72, 73, 74]);
    expect(sockets.filter(isListener).map(({ localPort }) => localPort)).toEqual([8080, 8000, 9000]);
    expect(sockets.filter(isWildcardListener).map(({ localPort }) => localPort)).toEqual([8080, 9000]);
  });

  it('names the program that listens on a port', async () => {
    using programs = standInPrograms({
      netstat: `cat <<'END'\n${german}\nEND`,
      tasklist: `echo '"node.exe","72","Console","1","10 K"'`,
    });
    expect(await findPortHolder(8000, 'win32')).toEqual({ pid: 72, name: 'node.exe' });
    expect(await findPortHolder(50_000, 'win32')).toBeUndefined();
    expect(programs.calls('tasklist')).toEqual(['/FI PID eq 72 /FO CSV /NH']);
  });
});

describe('findPortHolder', () => {
  it('names the program on macOS', async () => {
    using programs = standInPrograms({ lsof: "printf 'p71\\ncControlCenter\\n'" });
    expect(await findPortHolder(5000, 'darwin')).toEqual({ pid: 71, name: 'ControlCenter' });
    expect(programs.calls('lsof')).toEqual(['-nP -iTCP:5000 -sTCP:LISTEN -Fpc']);
  });

  it('is undefined when the tool fails', async () => {
    using _programs = standInPrograms({ lsof: 'exit 1', netstat: 'exit 1' });
    for (const platform of ['darwin', 'win32'] as const) expect(await findPortHolder(5000, platform)).toBeUndefined();
  });
});

describe('createWildcardCheck', () => {
  it('reads the table of sockets once on Windows', async () => {
    using programs = standInPrograms({ netstat: `cat <<'END'\n${german}\nEND` });
    const isTaken = await createWildcardCheck('win32');
    expect(await Promise.all([8080, 8000, 9000, 7000].map(isTaken))).toEqual([true, false, true, false]);
    expect(programs.calls('netstat')).toEqual(['-ano']);
  });

  it('finds nothing on Linux, which refuses such ports by itself', async () => {
    const isTaken = await createWildcardCheck('linux');
    expect(await isTaken(8080)).toBe(false);
  });

  it('finds nothing on Windows without its table of sockets', async () => {
    using _programs = standInPrograms({ netstat: 'exit 1' });
    expect(await (await createWildcardCheck('win32'))(8080)).toBe(false);
  });

  it.each(['0.0.0.0', '::'])('tries the addresses on macOS and finds a listener on %s', async (host) => {
    const isTaken = await createWildcardCheck('darwin');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen({ host, port: 0, ipv6Only: host === '::' }, resolve));
    const { port } = server.address() as AddressInfo;
    expect(await isTaken(port)).toBe(true);
    await new Promise((resolve) => server.close(resolve));
    expect(await isTaken(port)).toBe(false);
  });
});

describe('reserved ports of Windows', () => {
  it('are parsed in any language without the exclusions of administrators', () => {
    const lines = [
      'Portausschlussbereiche für das Protokoll "tcp"',
      '',
      'Startport    Endport',
      '----------    --------',
      '      5357        5357',
      '     49671       49770',
      '     50000       50059     *',
      '',
      '* - Verwaltete Portausschlüsse.',
    ];
    expect(parseReservedPorts(lines.join('\r\n'))).toEqual([
      { first: 5357, last: 5357 },
      { first: 49_671, last: 49_770 },
    ]);
  });

  it('are requested on Windows only, and are none without an answer', async () => {
    {
      using programs = standInPrograms({ netsh: "printf '      5357        5357\\r\\n     49671       49770\\r\\n'" });
      const ranges = await listReservedPorts('win32');
      expect(ranges).toEqual([
        { first: 5357, last: 5357 },
        { first: 49_671, last: 49_770 },
      ]);
      for (const platform of ['linux', 'darwin'] as const) expect(await listReservedPorts(platform)).toEqual([]);
      expect(programs.calls('netsh')).toEqual(['interface ipv4 show excludedportrange protocol=tcp']);
      expect([5356, 5357, 5358, 49_671, 49_770, 49_771].map((port) => findRange(ranges, port)?.first)).toEqual([
        undefined,
        5357,
        undefined,
        49_671,
        49_671,
        undefined,
      ]);
    }
    using _programs = standInPrograms({ netsh: 'exit 1' });
    expect(await listReservedPorts('win32')).toEqual([]);
  });
});
