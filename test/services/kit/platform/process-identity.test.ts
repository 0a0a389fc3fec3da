import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import {
  findProcessIdentity,
  findProcessState,
  isProcessAlive,
} from '../../../../services/kit/platform/process-identity.ts';
import { killRemainingTree, signalTree } from '../../../../services/kit/platform/process-tree.ts';
import { standInPrograms } from '../../../support/program-stand-ins.ts';

const platforms = ['linux', 'darwin', 'win32'] as const;
const startedAt = '133456789012345678/C:\\Program Files\\Homeport\\node.exe';

/** Returns the pid of a process that has ended. */
async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  return child.pid ?? 0;
}

describe('findProcessIdentity', () => {
  it('contains the start time and on Windows the program', async () => {
    using _programs = standInPrograms({
      ps: "echo 'Ss   Sun Nov 29 02:41:10 2026'",
      powershell: `printf '%s\\r\\n' '${startedAt}'`,
    });
    const pid = String(process.pid);
    expect(await findProcessIdentity(process.pid, 'linux')).toMatch(new RegExp(`^${pid}/\\d+$`));
    expect(await findProcessIdentity(process.pid, 'darwin')).toBe(`${pid}/Sun Nov 29 02:41:10 2026`);
    expect(await findProcessIdentity(process.pid, 'win32')).toBe(`${pid}/${startedAt}`);
  });

  it('asks for one process by its id', async () => {
    using programs = standInPrograms({ ps: 'exit 1', powershell: '' });
    await findProcessIdentity(4711, 'darwin');
    await findProcessIdentity(4711, 'win32');
    expect(programs.calls('ps')).toEqual(['-o stat= -o lstart= -p 4711']);
    expect(programs.calls('powershell')[0]).toContain("Get-CimInstance Win32_Process -Filter 'ProcessId=4711'");
  });

  it('is independent of the language and the time zone on macOS', async () => {
    using _programs = standInPrograms({ ps: 'echo "S $LC_ALL $TZ"' });
    vi.stubEnv('LC_ALL', 'de_DE.UTF-8');
    vi.stubEnv('TZ', 'Asia/Tokyo');
    const identity = await findProcessIdentity(process.pid, 'darwin');
    vi.unstubAllEnvs();
    expect(identity).toBe(`${String(process.pid)}/C UTC`);
  });

  it('is undefined for a process that has ended, and for a zombie', async () => {
    const pid = await endedPid();
    using _programs = standInPrograms({ ps: "echo 'Z    Sun Nov 29 02:41:10 2026'", powershell: '' });
    for (const platform of platforms) expect(await findProcessIdentity(pid, platform), platform).toBeUndefined();
  });
});

describe('findProcessState', () => {
  it('distinguishes a reused pid by the start time', async () => {
    using _programs = standInPrograms({ ps: 'echo "S now"', powershell: `printf '%s' '${startedAt}'` });
    for (const platform of platforms) {
      const identity = (await findProcessIdentity(process.pid, platform)) ?? '';
      expect(await findProcessState(identity, platform), platform).toBe('running');
      expect(await findProcessState(`${String(process.pid)}/1/other`, platform), platform).toBe('ended');
    }
  });

  it('is unknown on Windows without a start time', async () => {
    using _programs = standInPrograms({ powershell: 'exit 1' });
    expect(await findProcessState(`${String(process.pid)}/${startedAt}`, 'win32')).toBe('unknown');
    expect(await findProcessState(`${String(process.pid)}/`, 'win32')).toBe('unknown');
    expect(await findProcessState(String(process.pid), 'win32')).toBe('unknown');
    expect(await findProcessState(`${String(await endedPid())}/${startedAt}`, 'win32')).toBe('ended');
  });
});

describe('isProcessAlive', () => {
  it('is true for this process and false for ended ones and other values', async () => {
    expect(isProcessAlive(process.pid)).toBe(true);
    for (const pid of [await endedPid(), 0, -1, Number.NaN]) expect(isProcessAlive(pid)).toBe(false);
  });
});

describe('signalTree', () => {
  it('ends the tree by taskkill on Windows, and only while the child runs', async () => {
    using programs = standInPrograms({ taskkill: 'kill -9 "$2"' });
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const exited = once(child, 'exit');
    signalTree(child.pid ?? 0, 'SIGTERM', 'win32');
    expect(await exited).toEqual([null, 'SIGKILL']);
    killRemainingTree(child.pid ?? 0, 'win32');
    expect(programs.calls('taskkill')).toEqual([`/PID ${String(child.pid)} /T /F`]);
  });

  it.each(['ESRCH', 'EPERM'])('takes %s for a group that has ended', (code) => {
    const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error(code), { code });
    });
    try {
      for (const platform of ['linux', 'darwin'] as const) {
        signalTree(4711, 'SIGTERM', platform);
        killRemainingTree(4711, platform);
      }
      expect(kill.mock.calls.map(([pid]) => pid)).toEqual([-4711, -4711, -4711, -4711]);
    } finally {
      kill.mockRestore();
    }
  });
});
