import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { announcesHostName, hostNameFollowsNetwork } from '../../../../services/kit/platform/host-name.ts';
import { killRemainingTree, signalTree } from '../../../../services/kit/platform/process-tree.ts';
import { standInPrograms } from '../../../support/program-stand-ins.ts';

const platforms = ['linux', 'darwin', 'win32'] as const;

afterEach(() => vi.restoreAllMocks());

describe('host name', () => {
  it.each([
    ['announcesHostName', announcesHostName, [false, true, true]],
    ['hostNameFollowsNetwork', hostNameFollowsNetwork, [false, true, false]],
  ] as const)('has the property %s of linux, darwin and win32', (_name, getProperty, expected) => {
    expect(platforms.map((platform) => getProperty(platform))).toEqual(expected);
  });
});

function mockKill(code?: string) {
  return vi.spyOn(process, 'kill').mockImplementation(() => {
    if (code !== undefined) throw Object.assign(new Error(code), { code });
    return true;
  });
}

describe('signalTree', () => {
  it.each(['linux', 'darwin'] as const)('signals the process group on %s', (platform) => {
    const kill = mockKill();
    signalTree(4711, 'SIGTERM', platform);
    killRemainingTree(4711, platform);
    expect(kill.mock.calls).toEqual([
      [-4711, 'SIGTERM'],
      [-4711, 'SIGKILL'],
    ]);
  });

  it('ends the tree with taskkill on Windows, and no process after the child has ended', async () => {
    using programs = standInPrograms({ taskkill: '' });
    const kill = mockKill();
    signalTree(4711, 'SIGTERM', 'win32');
    await expect.poll(() => programs.calls('taskkill')).toEqual(['/PID 4711 /T /F']);
    killRemainingTree(4711, 'win32');
    expect(programs.calls('taskkill')).toHaveLength(1);
    expect(kill).not.toHaveBeenCalled();
  });

  it.each([
    ['ESRCH', false],
    ['EPERM', false],
    ['EINVAL', true],
  ])('handles a group that answers %s', (code, throws) => {
    mockKill(code);
    for (const platform of ['linux', 'darwin'] as const) {
      if (throws) expect(() => signalTree(4711, 'SIGTERM', platform)).toThrow(code);
      else expect(() => signalTree(4711, 'SIGTERM', platform)).not.toThrow();
    }
  });

  it('ends the children of a child', async () => {
    const child: ChildProcess = spawn('sh', ['-c', 'sleep 60 & echo $!; wait'], { detached: true });
    const [output] = (await once(child.stdout!, 'data')) as [Buffer];
    const ended = once(child, 'close');
    signalTree(child.pid!, 'SIGKILL');
    await ended; // The output closes when the last process with it has ended.
    expect(Number(output.toString())).toBeGreaterThan(0);
  });
});
