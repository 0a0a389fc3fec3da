import { execFile, execFileSync, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { promisify } from 'node:util';
import { lan, phoneAddress } from './phone.ts';

const run = promisify(execFile);

/**
 * Second computer of the home network: a network namespace if the kernel permits it, otherwise another loopback
 * address.
 */
export interface Machine extends Disposable {
  /** Address of the first computer as the second one reaches it. */
  readonly lan: string;
  /** Address of the second computer. */
  readonly address: string;
  /** Kind of the second computer. */
  readonly by: 'namespace' | 'loopback';
  /**
   * Runs a program on the second computer and returns its output.
   * @throws Error with the exit code as `code`.
   */
  run(file: string, args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<string>;
  /** Command that runs a program on the second computer; the program and its arguments follow it. */
  readonly inside: readonly string[];
  start(file: string, args: readonly string[]): ChildProcessWithoutNullStreams;
}

export function secondMachine(): Machine {
  const { pid } = process;
  const [name, near, far] = [`homeport-${String(pid)}`, `hpn${String(pid)}`, `hpf${String(pid)}`];
  const net = `10.${String(200 + (Math.floor(pid / 256) % 50))}.${String(pid % 256)}`;
  const ip = (...args: string[]): void => void execFileSync('ip', args, { stdio: 'pipe' });
  const remove = (): void => {
    // The pair of interfaces is deleted with the namespace of one of them.
    execFileSync('ip', ['netns', 'delete', name], { stdio: 'pipe' });
  };
  const loopback: Machine = { ...machine([], lan, phoneAddress), by: 'loopback', [Symbol.dispose]: () => undefined };
  try {
    ip('netns', 'add', name);
  } catch {
    // The program is missing or not permitted.
    return loopback;
  }
  try {
    ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', name);
    // Without an IPv6 address that becomes valid seconds later, which browsers report as a changed network.
    ip('link', 'set', near, 'addrgenmode', 'none');
    ip('-n', name, 'link', 'set', far, 'addrgenmode', 'none');
    ip('addr', 'add', `${net}.1/24`, 'dev', near);
    ip('link', 'set', near, 'up');
    ip('-n', name, 'addr', 'add', `${net}.2/24`, 'dev', far);
    ip('-n', name, 'link', 'set', far, 'up');
    ip('-n', name, 'link', 'set', 'lo', 'up');
  } catch {
    // The namespace has no network interface.
    remove();
    return loopback;
  }
  const inside = ['ip', 'netns', 'exec', name];
  return { ...machine(inside, `${net}.1`, `${net}.2`), by: 'namespace', [Symbol.dispose]: remove };
}

function machine(
  inside: readonly string[],
  near: string,
  own: string,
): Pick<Machine, 'lan' | 'address' | 'inside' | 'run' | 'start'> {
  const command = (file: string, args: readonly string[]): readonly [string, readonly string[]] => {
    const [first = file, ...rest] = [...inside, file, ...args];
    return [first, rest];
  };
  return {
    lan: near,
    address: own,
    inside,
    async run(file, args, environment = {}) {
      const options = { env: { PATH: process.env['PATH'], ...environment }, maxBuffer: 16 * 1024 * 1024 };
      return (await run(...command(file, args), options)).stdout;
    },
    start: (file, args) => spawn(...command(file, args)),
  };
}
