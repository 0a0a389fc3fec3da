import { once } from 'node:events';
import { createServer, type AddressInfo, type ListenOptions, type Server } from 'node:net';
import { describe, expect, it } from 'vitest';
import { bindAll } from '../../../main/host/http/bind.ts';
import type { PortTaken } from '../../../main/host/http/port-unavailable.ts';
import { freePort } from '../../support/free-port.ts';
import { standInPrograms } from '../../support/program-stand-ins.ts';
import { quietLog } from './raw.ts';

describe('port of a program that listens on all addresses', () => {
  /** Listens on one port together with others, as Windows and macOS permit for different addresses. */
  const sharing = (): Server => {
    const server = createServer();
    const listen = server.listen.bind(server) as (options: ListenOptions, callback?: () => void) => Server;
    server.listen = ((options: ListenOptions, callback?: () => void) =>
      listen({ ...options, reusePort: true }, callback)) as Server['listen'];
    return server;
  };
  const log = quietLog();

  it.runIf(process.platform === 'linux')('is not taken over by a listener on 127.0.0.1', async () => {
    const docker = sharing().listen({ host: '0.0.0.0', port: 0 });
    await once(docker, 'listening');
    const { port } = docker.address() as AddressInfo;
    using programs = standInPrograms({
      lsof: "printf 'p71\\ncdocker\\n'",
      netstat: `echo '  TCP    0.0.0.0:${String(port)}    0.0.0.0:0    ABHÖREN    71'`,
      tasklist: `echo '"docker.exe","71","Console","1","10 K"'`,
    });
    try {
      for (const [platform, holder] of [
        ['darwin', 'docker'],
        ['win32', 'docker.exe'],
      ] as const) {
        const options = { hosts: ['127.0.0.1'], port, log, platform };
        const error = await bindAll(sharing, options).catch((reason: unknown) => reason);
        expect(error, platform).toMatchObject({ code: 'listener.port_taken', holder: { pid: 71 } });
        expect((error as PortTaken).detail).toContain(`${holder} (process 71)`);
        expect((error as PortTaken).suggestedPort).toBeGreaterThan(port);
      }
      expect(programs.calls('netstat').length).toBeGreaterThan(0);
    } finally {
      docker.close();
    }
  });

  it.each(['linux', 'darwin', 'win32'] as const)('does not matter on %s when there is none', async (platform) => {
    using _programs = standInPrograms({ netstat: 'exit 1' });
    const port = await freePort();
    const { servers } = await bindAll(() => createServer(), { hosts: ['127.0.0.1'], port, log, platform });
    expect(servers).toHaveLength(1);
    for (const server of servers) server.close();
  });
});

describe('port that Windows refuses', () => {
  const refusing = (): Server => {
    const server = createServer();
    server.listen = () => {
      queueMicrotask(() => server.emit('error', Object.assign(new Error('listen EACCES'), { code: 'EACCES' })));
      return server;
    };
    return server;
  };
  const bind = (port: number) =>
    bindAll(refusing, { hosts: ['127.0.0.1'], port, log: quietLog(), platform: 'win32' }).catch(
      (reason: unknown) => reason,
    );
  const ranges = (...lines: readonly string[]) => `printf '%s\\r\\n' '' ${lines.map((line) => `'${line}'`).join(' ')}`;

  it('is reported as reserved, with a free port beyond the ranges', async () => {
    using programs = standInPrograms({
      netsh: ranges(
        'Startport    Endport',
        '----------    --------',
        '     54235       54334',
        '     54335       54434',
      ),
      netstat: '',
    });
    const error = await bind(54_321);
    expect(error).toMatchObject({ code: 'listener.port_forbidden', status: 403 });
    const { detail, suggestedPort } = error as PortTaken;
    expect(detail).toContain('Port 54321 is reserved by Windows (Hyper-V, WSL or Docker).');
    expect(suggestedPort).toBeGreaterThan(54_434);
    expect(detail).toContain(`Port ${String(suggestedPort)} is free.`);
    expect(programs.calls('netsh')).toEqual(['interface ipv4 show excludedportrange protocol=tcp']);
  });

  it('is reported with the program that uses it exclusively', async () => {
    using _programs = standInPrograms({
      netsh: 'exit 1',
      netstat: "echo '  TCP    127.0.0.1:54321    0.0.0.0:0    LISTENING    71'",
      tasklist: `echo '"server.exe","71","Console","1","10 K"'`,
    });
    const error = await bind(54_321);
    expect(error).toMatchObject({ code: 'listener.port_taken', holder: { name: 'server.exe' } });
  });

  it('is reported without a reason when Windows gives none', async () => {
    using _programs = standInPrograms({ netsh: ranges('     50000       50059     *'), netstat: '' });
    const detail = expect.stringContaining('Windows doesn’t allow Homeport to listen on port 50001.') as string;
    expect(await bind(50_001)).toMatchObject({ code: 'listener.port_forbidden', detail });
  });
});
