import { randomBytes } from 'node:crypto';
import { access, mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isProcessAlive } from '../../../services/kit/platform/process-identity.ts';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import { executableName } from '../../../services/kit/platform/executables.ts';
import {
  isPassingFileError,
  moveFolder,
  removeTree,
  replaceFile,
} from '../../../services/kit/platform/file-replacement.ts';
import { parseJson } from '../../../services/contracts/parse-json.ts';

/** Options of {@link EngineFolder}. */
export interface EngineFolderOptions {
  readonly platform?: NodeJS.Platform;
  /** Path of the executable in the folder of a version. Default: the name of the engine. */
  readonly program?: string;
  readonly removeFolder?: (path: string) => Promise<void>;
}

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
  readonly #platform: NodeJS.Platform;
  readonly #removeFolder: (path: string) => Promise<void>;

  constructor(
    root: string,
    name: string,
    { platform = currentPlatform, program = executableName(name, platform), removeFolder }: EngineFolderOptions = {},
  ) {
    this.#program = program;
    this.#base = join(root, name);
    this.#platform = platform;
    this.#removeFolder = removeFolder ?? ((path) => removeTree(path, platform));
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
    await moveFolder(staged, join(this.#base, folder), this.#platform);
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
      const alive = installer === undefined ? await this.#isYoung(entry) : isProcessAlive(Number(installer));
      if (!alive) await this.#removeUnlessInUse(join(this.#base, entry));
    }
  }

  /** Removes all versions. What a running job still uses is no longer installed, and a later {@link clean} removes it. */
  async remove(): Promise<void> {
    await rm(join(this.#base, 'current'), { force: true });
    for (const entry of await readdir(this.#base).catch(() => [])) {
      await this.#removeUnlessInUse(join(this.#base, entry));
    }
    await this.#removeUnlessInUse(this.#base);
  }

  /** Windows refuses to remove a program that runs. */
  async #removeUnlessInUse(path: string): Promise<void> {
    try {
      await this.#removeFolder(path);
    } catch (error) {
      if (!isPassingFileError(error, this.#platform)) throw error;
    }
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
    await replaceFile(draft, join(this.#base, 'current'), this.#platform);
  }
}
