import * as m from '#messages/git-problems';
import type { Engines } from '../../contracts/control/engines.ts';
import { Problem } from '../../contracts/problem.ts';

/** Program of git: the path of the settings, or the engine. */
export class GitProgram {
  readonly #engines: Pick<Engines, 'find'>;
  readonly #configuredPath: string;

  /** @param configuredPath Path of the settings; empty for the engine. */
  constructor(engines: Pick<Engines, 'find'>, configuredPath: string) {
    this.#engines = engines;
    this.#configuredPath = configuredPath;
  }

  /**
   * Returns the path for the next command. An update of the engine changes it and later removes the former program.
   * `refresh`: searches again while the engine is missing.
   *
   * @throws Problem `git.missing` (503)
   */
  async find({ refresh = false } = {}): Promise<string> {
    if (this.#configuredPath !== '') return this.#configuredPath;
    const cached = await this.#engines.find('git');
    const engine = cached.path === null && refresh ? await this.#engines.find('git', { refresh }) : cached;
    if (engine.path !== null) return engine.path;
    // The remedy is read when the text is shown, since it is in the language of that moment.
    throw buildMissingProblem(() => m.gitMissing({ remedy: engine.remedy ?? m.installGit() }));
  }
}

/** `git.missing` (503): git cannot be run until an administrator followed the remedy in the text. */
export function buildMissingProblem(text: () => string, cause?: unknown): Problem {
  return new Problem('git.missing', 503, text, { cause });
}
