import { randomBytes } from 'node:crypto';
import { access, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../../services/contracts/parse-json.ts';
import { getExecutableName } from '../../../services/kit/find-program.ts';

const Pointer = z.object({ current: z.string(), previous: z.string().nullable() });
type Pointer = z.infer<typeof Pointer>;

/** Age at which a renamed folder without a pointer is removed. */
const strayAfterMs = 60 * 60_000;
const partial = /^\.partial-(\d+)-/;

/**
 * Installed versions of one engine: `<root>/<name>/<version>-<random>/<executable>` and beside them `current`, a
 * small file that names the current and the previous version. The folder of a version appears by one rename and never
 * changes, so a running job keeps its program during an update.
 */
export class EngineFolder {
  readonly #program: string;
  readonly #base: string;

  /** @param program Path of the executable in the folder of a version. */
  constructor(root: string, name: string, program = getExecutableName(name, process.platform)) {
    this.#program = program;
    this.#base = join(root, name);
  }

  /** Returns the path of the executable in a staged folder. */
  getProgram(staged: string): string {
    return join(staged, this.#program);
  }

  /** Returns usable executables, best first: the current version, then the previous one. */
  async installed(): Promise<readonly string[]> {
    const pointer = await this.#pointer();
    const versions = [pointer?.current, pointer?.previous].filter((version) => typeof version === 'string');
    return versions.map((version) => join(this.#base, version, this.#program));
  }

  /** Creates a new folder to install into. It takes effect with {@link publish}. */
  async stage(): Promise<string> {
    await this.clean();
    const folder = join(this.#base, `.partial-${process.pid}-${randomBytes(4).toString('hex')}`);
    await mkdir(folder, { recursive: true });
    return folder;
  }

  /** Identifies the current installation; changes with each installation, undefined before the first. */
  async current(): Promise<string | undefined> {
    return (await this.#pointer())?.current;
  }

  /** Makes a staged folder the current version and preserves the previous one. Returns the path of the executable. */
  async publish(staged: string, version: string): Promise<string> {
    const folder = `${version}-${randomBytes(4).toString('hex')}`;
    await access(this.getProgram(staged));
    const before = await this.#pointer();
    await rename(staged, join(this.#base, folder));
    await this.#point({ current: folder, previous: before?.current ?? null });
    await this.clean();
    return join(this.#base, folder, this.#program);
  }

  /** Removes the remains of killed installations and versions older than the previous one. */
  async clean(): Promise<void> {
    const pointer = await this.#pointer();
    for (const entry of await readdir(this.#base).catch(() => [])) {
      if (entry.startsWith('current') || entry === pointer?.current || entry === pointer?.previous) continue;
      const installer = partial.exec(entry)?.[1];
      const alive = installer === undefined ? await this.#isYoung(entry) : isRunning(Number(installer));
      if (!alive) await rm(join(this.#base, entry), { recursive: true, force: true });
    }
  }

  async remove(): Promise<void> {
    await rm(this.#base, { recursive: true, force: true });
  }

  async #isYoung(entry: string): Promise<boolean> {
    const versions = await stat(join(this.#base, entry)).catch(() => undefined);
    return versions !== undefined && Date.now() - versions.mtimeMs < strayAfterMs;
  }

  async #pointer(): Promise<Pointer | undefined> {
    const text = await readFile(join(this.#base, 'current'), 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    // An unreadable pointer is ignored: the engine is searched elsewhere and may be installed again.
    return Pointer.safeParse(parseJson(text)).data;
  }

  async #point(pointer: Pointer): Promise<void> {
    const draft = join(this.#base, `current.${randomBytes(4).toString('hex')}`);
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(JSON.stringify(pointer));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, join(this.#base, 'current'));
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
