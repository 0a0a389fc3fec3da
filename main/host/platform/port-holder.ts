import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import { isListener, readTcpTable } from './tcp-table.ts';

const execFileAsync = promisify(execFile);

/** Program that listens on a port, as far as the system reports it. */
export interface PortHolder {
  /** Undefined when the program belongs to another user and the system hides it. */
  readonly pid?: number;
  /** Name such as `node headless.ts`; undefined when the system does not report it. */
  readonly name?: string | undefined;
}

/** Finds the program that listens on a TCP port of this computer, if any. Never throws. */
export async function findPortHolder(
  port: number,
  platform: NodeJS.Platform = currentPlatform,
): Promise<PortHolder | undefined> {
  try {
    if (platform === 'linux') return await holderByProc(port);
    return platform === 'win32' ? await holderByNetstat(port) : await holderByLsof(port);
  } catch {
    // A missing tool, or a process that has just ended: the message omits the name.
    return undefined;
  }
}

async function holderByProc(port: number): Promise<PortHolder | undefined> {
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readOrEmpty));
  const inodes = tables.flatMap((table) => listeningInodes(table, port));
  if (inodes.length === 0) return undefined;
  const links = new Set(inodes.map((inode) => `socket:[${inode}]`));
  // The own process first: opening a listener twice is the most likely mistake.
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  for (const pid of [String(process.pid), ...pids]) {
    if (await holdsAnyLink(pid, links)) return { pid: Number(pid), name: await programName(pid) };
  }
  return {};
}

/** Lines of proc_net_tcp(5): `sl local_address rem_address st … uid timeout inode`; state 0A is LISTEN. */
function listeningInodes(table: string, port: number): string[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[3] === '0A' && columns[1]?.endsWith(end) === true)
    .map((columns) => columns[9] ?? '0')
    .filter((inode) => inode !== '0');
}

async function holdsAnyLink(pid: string, links: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    if (links.has(await readlink(`${folder}/${name}`).catch(() => ''))) return true;
  }
  return false;
}

/**
 * Returns the file name of the program, for an interpreter also that of the script; never more of the command line,
 * which may contain secrets.
 */
async function programName(pid: string): Promise<string | undefined> {
  const line = (await readOrEmpty(`/proc/${pid}/cmdline`)).split('\0');
  const program = basename(line[0] ?? '') || (await readOrEmpty(`/proc/${pid}/comm`)).trim();
  if (program === '') return undefined;
  if (!/^(?:node|python[\d.]*|ruby|java|perl|bun|deno|php)$/.test(program)) return program;
  const commandLine = line.slice(1);
  const index = commandLine.findIndex((argument) => argument !== '' && !argument.startsWith('-'));
  // These options are followed by code instead of a file.
  const isCode = /^(?:-\w*[ecpr]|--eval|--print)$/.test(commandLine[index - 1] ?? '');
  return commandLine[index] === undefined || isCode ? program : `${program} ${basename(commandLine[index])}`;
}

async function readOrEmpty(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

/** `-F pc` prints one `p<pid>` and one `c<command>` line. */
async function holderByLsof(port: number): Promise<PortHolder | undefined> {
  const { stdout } = await execFileAsync('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc'], { timeout: 3000 });
  const pid = /^p(\d+)$/m.exec(stdout)?.[1];
  const command = /^c(.+)$/m.exec(stdout)?.[1];
  return pid === undefined ? undefined : { pid: Number(pid), name: command };
}

async function holderByNetstat(port: number): Promise<PortHolder | undefined> {
  const sockets = await readTcpTable();
  const pid = sockets.find((socket) => socket.localPort === port && isListener(socket))?.pid;
  if (pid === undefined) return undefined;
  const list = await execFileAsync('tasklist', ['/FI', `PID eq ${pid}`, '/FO', 'CSV', '/NH'], {
    timeout: 3000,
    windowsHide: true,
  });
  const command = /^"([^"]+)"/m.exec(list.stdout)?.[1];
  return { pid, name: command };
}
