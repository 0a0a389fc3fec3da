import * as m from '#messages/git-problems';
import type { RunningChild } from '../../contracts/children.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import { runOutsideRequests } from '../../kit/language.ts';
import { isReferenceName } from '../domain/names.ts';
import type { Git } from '../engine/git.ts';

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

export interface ObjectInfo {
  readonly id: string;
  readonly type: ObjectType;
  readonly size: number;
}

export interface ObjectContents extends ObjectInfo {
  readonly bytes: Buffer;
}

/** Maximum number of open readers. */
const maxReaders = 6;
/** Time after which an idle reader is closed, ms. */
const idleMs = 20_000;
/** Maximum size of an object that is read into memory. Larger objects are streamed. */
const maxObjectBytes = 16 * 1024 * 1024;
/** Prefixes that git also tries for an abbreviated reference name. */
const abbreviatedNames = ['refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/']
  .map((prefix) => (ref: string) => prefix + ref)
  .concat((ref) => `refs/remotes/${ref}/HEAD`);
/** Suffix that git reads as an object ID, as in `v1.2-3-gabcdef0`. */
const describePattern = /-g[0-9a-f]+$/i;

/**
 * Reads objects of repositories. A `git cat-file` process stays open for each repository that is in use, because
 * starting one takes ten times as long as a read.
 */
export class Objects implements AsyncDisposable {
  readonly #git: Git;
  readonly #clock: Clock;
  readonly #readers = new Map<string, Reader>();

  constructor(git: Git, clock: Clock) {
    this.#git = git;
    this.#clock = clock;
  }

  /**
   * Reads type and size of an object. `name` is an ID or `id:path`. Git resolves reference names loosely; use {@link
   * Objects.findCommit} for references. Returns undefined if the object does not exist.
   */
  async info(folder: string, name: string): Promise<ObjectInfo | undefined> {
    return this.#withReader(folder, (reader) => reader.request('info', name));
  }

  /**
   * Returns the commit of a reference with exactly this name, such as `refs/heads/main`, or undefined if there is none.
   */
  async findCommit(folder: string, ref: string): Promise<string | undefined> {
    if (!ref.startsWith('refs/') || !isReferenceName(ref)) return undefined;
    // Git tries the full name first, so a name that it cannot resolve does not exist.
    const object = await this.info(folder, `${ref}^{commit}`);
    if (object?.type !== 'commit') return undefined;
    const alternatives = describePattern.test(ref)
      ? [object]
      : await Promise.all(abbreviatedNames.map((toFullName) => this.info(folder, toFullName(ref))));
    if (alternatives.every((other) => other === undefined)) return object.id;
    const lines = await this.#git.lines(folder, ['for-each-ref', '--format=%(objectname) %(refname)', '--', ref]);
    const exact = lines.find((line) => line.slice(41) === ref);
    return exact === undefined ? undefined : (await this.info(folder, `${exact.slice(0, 40)}^{commit}`))?.id;
  }

  /**
   * Reads an object into memory.
   * @throws Problem `git.too_large` (413) for an object of more than 16 MiB
   */
  async contents(folder: string, name: string): Promise<ObjectContents | undefined> {
    return this.#withReader(folder, async (reader) => {
      const info = await reader.request('info', name);
      if (info === undefined) return undefined;
      if (info.size > maxObjectBytes) throw new Problem('git.too_large', 413, m.fileTooLargeToShow());
      const object = await reader.request('contents', info.id);
      return object?.bytes === undefined ? undefined : { ...object, bytes: object.bytes };
    });
  }

  /** Retries once if the reader was closed during the request because of another repository. */
  async #withReader<Value>(folder: string, request: (reader: Reader) => Promise<Value>): Promise<Value> {
    await this.#git.ensureRepositories();
    try {
      return await request(this.#reader(folder));
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'git.reader_ended') throw error;
      return request(this.#reader(folder));
    }
  }

  /** Closes the reader of a repository, so that it can be removed. */
  async close(folder: string): Promise<void> {
    const reader = this.#readers.get(folder);
    this.#readers.delete(folder);
    await reader?.close();
  }

  /** Closes all readers, which keep files of the repositories open. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.#readers.keys()].map((folder) => this.close(folder)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.closeAll();
  }

  #reader(folder: string): Reader {
    let reader = this.#readers.get(folder);
    // Reinsert the key so that the map is ordered by last use.
    this.#readers.delete(folder);
    if (reader === undefined || reader.isClosed) {
      // Several requests share the reader, so it has nothing of the request that starts it.
      const start = (): Promise<RunningChild> => this.#git.start(folder, ['cat-file', '--batch-command']);
      reader = runOutsideRequests(() => new Reader(start));
    }
    this.#readers.set(folder, reader);
    const [oldest] = this.#readers.keys();
    if (this.#readers.size > maxReaders && oldest !== undefined) void this.close(oldest);
    reader.idleTimer?.[Symbol.dispose]();
    reader.idleTimer = this.#clock.after(idleMs, () => void this.close(folder));
    return reader;
  }
}

type ObjectResult = (ObjectInfo & { readonly bytes?: Buffer }) | undefined;
interface PendingRequest {
  readonly kind: 'info' | 'contents';
  readonly resolve: (resolve: ObjectResult) => void;
  readonly reject: (error: unknown) => void;
}

class Reader {
  readonly #child: Promise<RunningChild>;
  readonly #pending: PendingRequest[] = [];
  #dependencies: Buffer[] = [];
  #size = 0;
  /** Header of the object that is being received; undefined while waiting for a header. */
  #head: ObjectInfo | undefined;
  isClosed = false;
  idleTimer: Disposable | undefined;

  constructor(start: () => Promise<RunningChild>) {
    this.#child = start();
    this.#child.then(
      (child) => {
        child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
        child.stderr.resume();
        void child.exited.then(() => this.#fail(new Problem('git.reader_ended', 503, m.gitExited)));
      },
      (error: unknown) => this.#fail(error),
    );
  }

  async request(kind: PendingRequest['kind'], name: string): Promise<ObjectResult> {
    if (name === '' || /[\n\0]/.test(name)) return undefined;
    const child = await this.#child;
    return new Promise((resolve, reject) => {
      if (this.isClosed) return reject(new Problem('git.reader_ended', 503, m.gitExited));
      this.#pending.push({ kind, resolve, reject });
      child.stdin.write(`${kind} ${name}\n`);
    });
  }

  /** Closes the process after all pending requests were answered. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.idleTimer?.[Symbol.dispose]();
    const child = await this.#child.catch(() => undefined);
    child?.stdin.end();
    await child?.exited;
  }

  #fail(error: unknown): void {
    this.isClosed = true;
    for (const request of this.#pending.splice(0)) request.reject(error);
  }

  #read(chunk: Buffer): void {
    this.#dependencies.push(chunk);
    this.#size += chunk.length;
    for (;;) {
      const head = this.#head ?? this.#readHeader();
      if (head === undefined) return;
      if (head === 'missing') {
        this.#pending.shift()?.resolve(undefined);
      } else if (this.#pending[0]?.kind === 'info') {
        this.#pending.shift()?.resolve(head);
      } else {
        this.#head = head;
        // A line feed follows the object.
        if (this.#size < head.size + 1) return;
        const bytes = this.#consume(head.size + 1).subarray(0, head.size);
        this.#head = undefined;
        this.#pending.shift()?.resolve({ ...head, bytes });
      }
    }
  }

  #readHeader(): ObjectInfo | 'missing' | undefined {
    const bytes = this.#joinChunks();
    const end = bytes.indexOf(10);
    if (end < 0) return undefined;
    const line = this.#consume(end + 1).toString();
    const [, id, type, size] = /^([0-9a-f]{40}) (commit|tree|blob|tag) (\d+)\n$/.exec(line) ?? [];
    if (id === undefined) return 'missing';
    return { id, type: type as ObjectType, size: Number(size) };
  }

  #consume(length: number): Buffer {
    const bytes = this.#joinChunks();
    const remaining = bytes.subarray(length);
    this.#dependencies = remaining.length === 0 ? [] : [remaining];
    this.#size = remaining.length;
    return bytes.subarray(0, length);
  }

  #joinChunks(): Buffer {
    if (this.#dependencies.length > 1) this.#dependencies = [Buffer.concat(this.#dependencies)];
    return this.#dependencies[0] ?? Buffer.alloc(0);
  }
}
