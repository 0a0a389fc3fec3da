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

/** Readers that stay open at once, and for how long one without work does, ms. */
const mostReaders = 6;
const idleMs = 20_000;
/** Larger objects are streamed by another way. */
const largest = 16 * 1024 * 1024;
/** Where git looks for a name besides where it says, and what it reads as the id at its end, as of `v1.2-3-gabcdef0`. */
const otherPlaces = ['refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/']
  .map((prefix) => (ref: string) => prefix + ref)
  .concat((ref) => `refs/remotes/${ref}/HEAD`);
const described = /-g[0-9a-f]+$/i;

/**
 * Reads objects of repositories. A program of git's stays open for each repository that is in use, since starting one
 * takes ten times as long as reading.
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
   * `name` as git takes it: an id, `id:path`. Git is generous with names of references, for which there is
   * {@link Objects.commitOf}. Undefined where there is none.
   */
  async info(folder: string, name: string): Promise<ObjectInfo | undefined> {
    return this.#asking(folder, (reader) => reader.ask('info', name));
  }

  /** The commit that a reference of exactly this name leads to: `refs/heads/main`. Undefined where there is none. */
  async commitOf(folder: string, ref: string): Promise<string | undefined> {
    if (!ref.startsWith('refs/') || !isReferenceName(ref)) return undefined;
    // Git looks for the whole name first, so what it does not find is not there.
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

  /** @throws Problem `git.too_large` (413) for an object of more than 16 MiB. */
  async contents(folder: string, name: string): Promise<ObjectContents | undefined> {
    return this.#asking(folder, async (reader) => {
      const info = await reader.ask('info', name);
      if (info === undefined) return undefined;
      if (info.size > largest) throw new Problem('git.too_large', 413, 'This file is too large to be shown.');
      const found = await reader.ask('contents', info.id);
      return found?.bytes === undefined ? undefined : { ...found, bytes: found.bytes };
    });
  }

  /** Once more where another repository's turn closed the reader in the middle. */
  async #asking<Found>(folder: string, ask: (reader: Reader) => Promise<Found>): Promise<Found> {
    try {
      return await ask(this.#reader(folder));
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'git.reader_ended') throw error;
      return ask(this.#reader(folder));
    }
  }

  /** Lets go of a repository's files: it will be removed. */
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
    // The map keeps them by their last use.
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
  #parts: Buffer[] = [];
  #size = 0;
  /** Of the object whose bytes come in; undefined while its line is awaited. */
  #head: ObjectInfo | undefined;
  isOver = false;
  rest: Disposable | undefined;

  constructor(start: () => Promise<RunningChild>) {
    this.#child = start();
    this.#child.then(
      (child) => {
        child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
        child.stderr.resume();
        void child.exited.then(() => this.#end(new Problem('git.reader_ended', 503, 'Git ended while it was asked.')));
      },
      (error: unknown) => this.#end(error),
    );
  }

  async ask(kind: Question['kind'], name: string): Promise<Answer> {
    if (name === '' || /[\n\0]/.test(name)) return undefined;
    const child = await this.#child;
    return new Promise((answer, fail) => {
      if (this.isOver) return fail(new Problem('git.reader_ended', 503, 'Git ended while it was asked.'));
      this.#questions.push({ kind, answer, fail });
      child.stdin.write(`${kind} ${name}\n`);
    });
  }

  /** What was asked is answered first. */
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
    this.#parts.push(chunk);
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
        // One line end follows the object.
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
    this.#parts = rest.length === 0 ? [] : [rest];
    this.#size = rest.length;
    return all.subarray(0, length);
  }

  #join(): Buffer {
    if (this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts)];
    return this.#parts[0] ?? Buffer.alloc(0);
  }
}
