import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { vi } from 'vitest';
import { freePort } from './free-port.ts';
import { needs } from './requirements.ts';
import { toolPath } from './tools.ts';

needs('nats-server');

/** Account of the tests; the password must appear in no log. */
const user = 'homeport';
const password = 'a-password-of-nats';

/** Running NATS server that requires a password. */
export interface NatsServer extends AsyncDisposable {
  readonly url: string;
  readonly password: string;
  /** Address for other clients: `127.0.0.1:4222`. */
  readonly address: string;
  /** Ends the process immediately, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again on the same port. */
  restart(): Promise<void>;
  /** Stops the process without closing its connections, until `resume`. */
  pause(): void;
  resume(): void;
}

/** Starts a NATS server on a free loopback port. */
export async function startNats(): Promise<NatsServer> {
  const port = await freePort();
  const address = `127.0.0.1:${String(port)}`;
  let child = await serve(port);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    url: `nats://${user}:${password}@${address}`,
    password,
    address,
    kill,
    async restart() {
      child = await serve(port);
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    [Symbol.asyncDispose]: kill,
  };
}

async function serve(port: number): Promise<ChildProcess> {
  const options = ['--addr', '127.0.0.1', '--port', String(port), '--user', user, '--pass', password];
  const child = spawn(toolPath('nats-server'), options, { stdio: 'ignore' });
  await vi.waitFor(() => checkListening(port), { timeout: 20_000, interval: 20 });
  return child;
}

async function checkListening(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  try {
    // A server greets its clients.
    await once(socket, 'data');
  } finally {
    socket.destroy();
  }
}
