import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execFileAsync = promisify(execFile);
const commandTimeoutMs = 3000;

/** TCP socket of Windows with its process. */
export interface TcpSocket {
  readonly localAddress: string;
  readonly localPort: number;
  /** 0 for a listener. */
  readonly remotePort: number;
  readonly pid: number;
}

/**
 * Lists the TCP sockets of Windows.
 * @throws Error when `netstat` is missing or too slow
 */
export async function readTcpTable(): Promise<readonly TcpSocket[]> {
  const { stdout } = await execFileAsync('netstat', ['-ano'], { timeout: commandTimeoutMs, windowsHide: true });
  return parseNetstat(stdout);
}

/** Parses the output of `netstat -ano`, whose names of states are translated and not read. */
export function parseNetstat(output: string): readonly TcpSocket[] {
  const rows = output.matchAll(/^\s*TCP\s+(\S+):(\d+)\s+\S+:(\d+)\s+\S.*?\s(\d+)\s*$/gim);
  return [...rows].map(([, localAddress = '', localPort, remotePort, pid]) => ({
    localAddress,
    localPort: Number(localPort),
    remotePort: Number(remotePort),
    pid: Number(pid),
  }));
}

/** Returns whether a socket waits for connections: only its remote port is 0. */
export function isListener({ remotePort }: TcpSocket): boolean {
  return remotePort === 0;
}

/** Returns whether a listener accepts connections to all addresses of its family. */
export function isWildcardListener(socket: TcpSocket): boolean {
  return isListener(socket) && (socket.localAddress === '0.0.0.0' || socket.localAddress === '[::]');
}
