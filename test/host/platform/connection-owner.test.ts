import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  inodesOfConnection,
  findConnectionOwners,
  findOpener,
  ownersInLsof,
} from '../../../main/host/platform/connection-owner.ts';
import { parseNetstat } from '../../../main/host/platform/tcp-table.ts';

const ports = { clientPort: 50_000, serverPort: 8000 };

describe('findOpener', () => {
  it.runIf(process.platform === 'linux')('finds the connection of a child and of its own child', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const code = `require('net').connect(${String(port)}, '127.0.0.1'); setInterval(() => {}, 1000)`;
    const script = `"${process.execPath}" -e "${code}" & wait`;
    const child = spawn('sh', ['-c', script], { detached: true, stdio: 'ignore' });
    try {
      const [socket] = await accepted;
      const pair = { clientPort: socket.remotePort ?? 0, serverPort: port };
      expect(await findOpener([child.pid ?? 0], pair)).toBe('started');
      expect(await findOpener([1], { ...pair, clientPort: 1 })).toBe('unknown');
      expect(await findOpener([], pair)).toBe('other');
      // A process that neither is a child nor was started by one.
      const stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
      expect(await findOpener([stranger.pid ?? 0], pair)).toBe('other');
      stranger.kill();
      socket.destroy();
    } finally {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      server.close();
    }
  });

  it('does not take a program for another one when the system has no tool', async () => {
    const { PATH } = process.env;
    process.env['PATH'] = '/nonexistent';
    try {
      expect(await findOpener([process.pid], ports, 'darwin')).toBe('unknown');
      expect(await findOpener([process.pid], ports, 'win32')).toBe('unknown');
    } finally {
      process.env['PATH'] = PATH;
    }
  });
});

describe('connection tables', () => {
  it('parses the client end from proc_net_tcp', () => {
    const table = [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      '   0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0 100 0',
      '   1: 0100007F:C350 0100007F:1F40 01 00000000:00000000 00:00000000 00000000     0        0 22 1 0 20 4',
      '   2: 0100007F:1F40 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 33 1 0 20 4',
    ].join('\n');
    expect(inodesOfConnection(table, ports)).toEqual(['22']);
  });

  it('parses the client end from lsof', () => {
    const output = 'p71\nf12\nn127.0.0.1:50000->127.0.0.1:8000\np80\nf7\nn127.0.0.1:8000->127.0.0.1:50000\n';
    expect(ownersInLsof(output, ports)).toEqual([71]);
  });

  it('parses the client end from netstat', () => {
    const output = [
      '  Proto  Local Address          Foreign Address        State           PID',
      '  TCP    127.0.0.1:8000         127.0.0.1:50000        ESTABLISHED     4',
      '  TCP    127.0.0.1:50000        127.0.0.1:8000         ESTABLISHED     71',
    ].join('\r\n');
    expect(findConnectionOwners(parseNetstat(output), ports)).toEqual([71]);
  });
});
