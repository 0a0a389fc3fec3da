import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import { readTcpTable, type TcpSocket } from './tcp-table.ts';

const execFileAsync = promisify(execFile);
const commandTimeoutMs = 3000;

/** A TCP connection between two programs on this computer, seen from the program that opened it. */
export interface PortPair {
  /** Port of the program that opened the connection. */
  readonly clientPort: number;
  /** Port of the listener. */
  readonly serverPort: number;
}

/**
 * Program that opened a connection: `started` by Homeport, or by a program that Homeport started; `other` for all other
 * programs on this computer; `unknown` when the system does not report it, or the connection was closed already.
 */
export type Opener = 'started' | 'other' | 'unknown';

/**
 * Finds out whether one of the given processes, or a descendant of one, opened a connection.
 * @param pids process ids of running children
 */
export async function findOpener(
  pids: readonly number[],
  ports: PortPair,
  platform: NodeJS.Platform = currentPlatform,
): Promise<Opener> {
  try {
    if (platform === 'linux') return await findOpenerOnLinux(pids, ports);
    if (pids.length === 0) return 'other';
    const owners = platform === 'win32' ? await ownersByNetstat(ports) : await ownersByLsof(ports);
    if (owners.length === 0) return 'unknown';
    const parents = platform === 'win32' ? new Map<number, number>() : await parentsByPs();
    return owners.some((owner) => descendsFrom(owner, pids, parents)) ? 'started' : 'other';
  } catch {
    // The tool is missing or the process has just ended.
    return 'unknown';
  }
}

async function findOpenerOnLinux(pids: readonly number[], ports: PortPair): Promise<Opener> {
  const links = await readLinks(ports);
  if (links.size === 0) return 'unknown';
  const pending = [...pids];
  const visited = new Set<number>();
  let isComplete = true;
  for (let pid = pending.pop(); pid !== undefined; pid = pending.pop()) {
    if (visited.has(pid)) continue;
    visited.add(pid);
    const holds = await holdsAnyLink(pid, links);
    if (holds === true) return 'started';
    const descendants = await childrenOnLinux(pid);
    isComplete &&= holds === false && descendants !== undefined;
    pending.push(...(descendants ?? []));
  }
  if (!isComplete) return findOtherHolder(links, visited);
  // A child that ended during the search has closed the connection by now.
  const remaining = await readLinks(ports);
  return [...links].every((link) => remaining.has(link)) ? 'other' : 'unknown';
}

/** Returns the links by which the files of a process refer to a connection; none when its client has closed it. */
async function readLinks(ports: PortPair): Promise<Set<string>> {
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readOrEmpty));
  return new Set(tables.flatMap((table) => inodesOfConnection(table, ports)).map((inode) => `socket:[${inode}]`));
}

/**
 * Searches all processes for the one that holds a connection. Needed only while a child runs whose files cannot be
 * read, such as `ping` with a capability.
 */
async function findOtherHolder(links: ReadonlySet<string>, started: ReadonlySet<number>): Promise<Opener> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  for (const pid of pids.filter((each) => !started.has(each))) {
    if ((await holdsAnyLink(pid, links)) !== true) continue;
    return (await hasAncestor(pid, started)) ? 'started' : 'other';
  }
  return 'unknown';
}

async function hasAncestor(pid: number, ancestors: ReadonlySet<number>): Promise<boolean> {
  for (let each = pid; each > 1;) {
    if (ancestors.has(each)) return true;
    // The name of the program is in parentheses and may contain any character; the state and the parent follow.
    const parent = /^.*\) \S (\d+)/s.exec(await readOrEmpty(`/proc/${String(each)}/stat`))?.[1];
    each = Number(parent ?? 0);
  }
  return false;
}

/**
 * Reads the inodes of a connection's client end from a table of proc_net_tcp(5), whose columns are
 * `sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode`.
 */
export function inodesOfConnection(table: string, { clientPort, serverPort }: PortPair): string[] {
  const [local, remote] = [hexPort(clientPort), hexPort(serverPort)];
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[1]?.endsWith(local) === true && columns[2]?.endsWith(remote) === true)
    .map((columns) => columns[9] ?? '0')
    .filter((inode) => inode !== '0');
}

function hexPort(port: number): string {
  return `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Returns undefined when the open files of a process cannot be read, and false when it has ended. */
async function holdsAnyLink(pid: number, links: ReadonlySet<string>): Promise<boolean | undefined> {
  const folder = `/proc/${String(pid)}/fd`;
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' || error.code === 'ESRCH' ? [] : undefined,
  );
  if (names === undefined) return undefined;
  const targets = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
  return targets.some((target) => links.has(target));
}

/** Returns undefined on systems without the list of children (CONFIG_PROC_CHILDREN). */
async function childrenOnLinux(pid: number): Promise<number[] | undefined> {
  const folder = `/proc/${String(pid)}/task`;
  const threads = await readdir(folder).catch(() => []);
  const lists = await Promise.all(threads.map((thread) => readIfPresent(`${folder}/${thread}/children`)));
  if (threads.length > 0 && lists.every((list) => list === undefined)) return undefined;
  return lists.flatMap((list) => (list ?? '').split(' ').filter(Boolean).map(Number));
}

async function readOrEmpty(path: string): Promise<string> {
  return (await readIfPresent(path)) ?? '';
}

async function readIfPresent(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

/** `-F pn` prints a `p<pid>` line and, for each connection, a line `n<local>-><remote>`. */
async function ownersByLsof(ports: PortPair): Promise<number[]> {
  const args = ['-nP', `-iTCP:${String(ports.clientPort)}`, '-sTCP:ESTABLISHED', '-Fpn'];
  const { stdout } = await execFileAsync('lsof', args, { timeout: commandTimeoutMs });
  const owners = ownersInLsof(stdout, ports);
  // lsof lists processes of this user only. When it lists just the listener's end, another user opened the connection.
  const { clientPort, serverPort } = ports;
  const accepted = ownersInLsof(stdout, { clientPort: serverPort, serverPort: clientPort });
  return owners.length === 0 && accepted.includes(process.pid) ? [otherUser] : owners;
}

/** Stands for the process of another user, whose id lsof does not report. */
const otherUser = -1;

/** Reads the processes that hold a connection's client end from the output of `lsof -Fpn`. */
export function ownersInLsof(output: string, { clientPort, serverPort }: PortPair): number[] {
  const owners: number[] = [];
  let pid = 0;
  for (const line of output.split('\n')) {
    if (line.startsWith('p')) pid = Number(line.slice(1));
    const [, from, to] = /^n.*:(\d+)->.*:(\d+)$/.exec(line) ?? [];
    if (Number(from) === clientPort && Number(to) === serverPort) owners.push(pid);
  }
  return owners;
}

async function ownersByNetstat(ports: PortPair): Promise<number[]> {
  return findConnectionOwners(await readTcpTable(), ports);
}

/** Returns the processes that hold a connection's client end on Windows. */
export function findConnectionOwners(sockets: readonly TcpSocket[], { clientPort, serverPort }: PortPair): number[] {
  return sockets
    .filter(({ localPort, remotePort }) => localPort === clientPort && remotePort === serverPort)
    .map(({ pid }) => pid);
}

async function parentsByPs(): Promise<Map<number, number>> {
  const { stdout } = await execFileAsync('ps', ['-axo', 'pid=,ppid='], { timeout: commandTimeoutMs });
  return new Map(stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number) as [number, number]));
}

function descendsFrom(pid: number, ancestors: readonly number[], parents: ReadonlyMap<number, number>): boolean {
  const visited = new Set<number>();
  for (let each: number | undefined = pid; each !== undefined && !visited.has(each); each = parents.get(each)) {
    if (ancestors.includes(each)) return true;
    visited.add(each);
  }
  return false;
}
