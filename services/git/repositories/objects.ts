import type { RunningChild } from '../../contracts/children.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
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
const mostReaders = 6;
/** Time after which an idle reader is closed, ms. */
const idleMs = 20_000;
/** Maximum size of an object that is read into memory. Larger objects are streamed. */
const largest = 16 * 1024 * 1024;
/** Prefixes that git also tries for an abbreviated reference name. */
const otherPlaces = ['refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/']
  .map((prefix) => (ref: string) => prefix + ref)
  .concat((ref) => `refs/remotes/${ref}/HEAD`);
/** Suffix that git reads as an object ID, as in `v1.2-3-gabcdef0`. */
const described = /-g[0-9a-f]+$/i;

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
   * Objects.commitOf} for references. Returns undefined if the object does not exist.
   */
  async info(folder: string, name: string): Promise<ObjectInfo | undefined> {
    return this.#asking(folder, (reader) => reader.ask('info', name));
  }

  /**
   * Returns the commit of a reference with exactly this name, such as `refs/heads/main`, or undefined if there is none.
   */
  async commitOf(folder: string, ref: string): Promise<string | undefined> {
    if (!ref.startsWith('refs/') || !isReferenceName(ref)) return undefined;
    // Git tries the full name first, so a name that it cannot resolve does not exist.
    const found = await this.info(folder, `${ref}^{commit}`);
    if (found?.type !== 'commit') return undefined;
    const others = described.test(ref)
      ? [found]
      : await Promise.all(otherPlaces.map((place) => this.info(folder, place(ref))));
    if (others.every((other) => other === undefined)) return found.id;
    const lines = await this.#git.lines(folder, ['for-each-ref', '--format=%(objectname) %(refname)', '--', ref]);
    const exact = lines.find((line) => line.slice(41) === ref);
    return exact === undefined ? undefined : (await this.info(folder, `${exact.slice(0, 40)}^{commit}`))?.id;
  }

  /**
   * Reads an object into memory.
   * @throws Problem `git.too_large` (413) for an object of more than 16 MiB
   */
  async contents(folder: string, name: string): Promise<ObjectContents | undefined> {
    return this.#asking(folder, async (reader) => {
      const info = await reader.ask('info', name);
      if (info === undefined) return undefined;
      if (info.size > largest) throw new Problem('git.too_large', 413, 'This file is too large to be shown.');
      const found = await reader.ask('contents', info.id);
      return found?.bytes === undefined ? undefined : { ...found, bytes: found.bytes };
    });
  }

  /** Retries once if the reader was closed during the request because of another repository. */
  async #asking<Found>(folder: string, ask: (reader: Reader) => Promise<Found>): Promise<Found> {
    try {
      return await ask(this.#reader(folder));
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'git.reader_ended') throw error;
      return ask(this.#reader(folder));
    }
  }

  /** Closes the reader of a repository, so that it can be removed. */
  async close(folder: string): Promise<void> {
    const reader = this.#readers.get(folder);
    this.#readers.delete(folder);
    await reader?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#readers.keys()].map((folder) => this.close(folder)));
  }

  #reader(folder: string): Reader {
    let reader = this.#readers.get(folder);
    // Reinsert the key so that the map is ordered by last use.
    this.#readers.delete(folder);
    if (reader === undefined || reader.isOver) {
      reader = new Reader(() => this.#git.start(folder, ['cat-file', '--batch-command']));
    }
    this.#readers.set(folder, reader);
    const [oldest] = this.#readers.keys();
    if (this.#readers.size > mostReaders && oldest !== undefined) void this.close(oldest);
    reader.rest?.[Symbol.dispose]();
    reader.rest = this.#clock.after(idleMs, () => void this.close(folder));
    return reader;
  }
}

type Answer = (ObjectInfo & { readonly bytes?: Buffer }) | undefined;
interface Question {
  readonly kind: 'info' | 'contents';
  readonly answer: (answer: Answer) => void;
  readonly fail: (error: unknown) => void;
}

class Reader {
  readonly #child: Promise<RunningChild>;
  readonly #questions: Question[] = [];
  #dependencies: Buffer[] = [];
  #size = 0;
  /** Header of the object that is being received; undefined while waiting for a header. */
  #head: ObjectInfo | undefined;
  isOver = false;
  rest: Disposable | undefined;

  constructor(start: () => Promise<RunningChild>) {
    this.#child = start();
    this.#child.then(
      (child) => {
        child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
        child.stderr.resume();
        void child.exited.then(() => this.#end(new Problem('git.reader_ended', 503, 'Git exited during the request.')));
      },
      (error: unknown) => this.#end(error),
    );
  }

  async ask(kind: Question['kind'], name: string): Promise<Answer> {
    if (name === '' || /[\n\0]/.test(name)) return undefined;
    const child = await this.#child;
    return new Promise((answer, fail) => {
      if (this.isOver) return fail(new Problem('git.reader_ended', 503, 'Git exited during the request.'));
      this.#questions.push({ kind, answer, fail });
      child.stdin.write(`${kind} ${name}\n`);
    });
  }

  /** Closes the process after all pending requests were answered. */
  async close(): Promise<void> {
    this.isOver = true;
    this.rest?.[Symbol.dispose]();
    const child = await this.#child.catch(() => undefined);
    child?.stdin.end();
    await child?.exited;
  }

  #end(error: unknown): void {
    this.isOver = true;
    for (const question of this.#questions.splice(0)) question.fail(error);
  }

  #read(chunk: Buffer): void {
    this.#dependencies.push(chunk);
    this.#size += chunk.length;
    for (;;) {
      const head = this.#head ?? this.#line();
      if (head === undefined) return;
      if (head === 'missing') {
        this.#questions.shift()?.answer(undefined);
      } else if (this.#questions[0]?.kind === 'info') {
        this.#questions.shift()?.answer(head);
      } else {
        this.#head = head;
        // A line feed follows the object.
        if (this.#size < head.size + 1) return;
        const bytes = this.#take(head.size + 1).subarray(0, head.size);
        this.#head = undefined;
        this.#questions.shift()?.answer({ ...head, bytes });
      }
    }
  }

  #line(): ObjectInfo | 'missing' | undefined {
    const all = this.#join();
    const end = all.indexOf(10);
    if (end < 0) return undefined;
    const line = this.#take(end + 1).toString();
    const [, id, type, size] = /^([0-9a-f]{40}) (commit|tree|blob|tag) (\d+)\n$/.exec(line) ?? [];
    if (id === undefined) return 'missing';
    return { id, type: type as ObjectType, size: Number(size) };
  }

  #take(length: number): Buffer {
    const all = this.#join();
    const rest = all.subarray(length);
    this.#dependencies = rest.length === 0 ? [] : [rest];
    this.#size = rest.length;
    return all.subarray(0, length);
  }

  #join(): Buffer {
    if (this.#dependencies.length > 1) this.#dependencies = [Buffer.concat(this.#dependencies)];
    return this.#dependencies[0] ?? Buffer.alloc(0);
  }
}
