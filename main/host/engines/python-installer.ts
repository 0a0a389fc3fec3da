import * as m from '#messages/engine-texts';
import { readText, type Text } from '../../../services/contracts/text.ts';
import type { EngineProgress } from '../../../services/contracts/control/engine-progress.ts';
import { SingleFlight } from '../../../services/kit/single-flight.ts';
import { oldestPython, type PythonFinder } from './python.ts';
import { SourceUnavailable } from './release/source-unavailable.ts';
import type { InstallOptions } from './strategy.ts';

type Report = InstallOptions['report'];

export interface PythonInstallerOptions {
  readonly python: Pick<PythonFinder, 'find'>;
  /** Installation methods in order of preference; each throws SourceUnavailable when it does not apply. */
  readonly methods: readonly ((report: Report) => Promise<void>)[];
  /** Called with the progress of an installation; null when it has ended. */
  readonly onWork: (work: EngineProgress | null) => void;
}

/** Installs Python for engines that need it. Engines that are installed concurrently share one installation. */
export class PythonInstaller {
  readonly #options: PythonInstallerOptions;
  /** Progress reports of the engines that wait for the installation. */
  readonly #reports = new Set<Report>();
  readonly #installation = new SingleFlight(() => this.#install());

  constructor(options: PythonInstallerOptions) {
    this.#options = options;
  }

  /**
   * Returns the path of a Python with pip, and installs one when there is none.
   * @throws SourceUnavailable with the reason for each method.
   */
  async require(report: Report): Promise<string> {
    const existing = await this.#options.python.find({ pip: true });
    if (existing !== undefined) return existing;
    report(m.stepInstallPython);
    this.#reports.add(report);
    try {
      return await this.#installation.run();
    } finally {
      this.#reports.delete(report);
    }
  }

  async #install(): Promise<string> {
    const { python, methods, onWork } = this.#options;
    // Another installation may have ended after the search of the caller.
    const existing = await python.find({ pip: true });
    if (existing !== undefined) return existing;
    const reasons: Text[] = [];
    this.#report(m.stepInstallPython);
    try {
      for (const install of methods) {
        try {
          await install((step, percent) => this.#report(step, percent));
          const installed = await python.find({ pip: true });
          if (installed !== undefined) return installed;
          reasons.push(m.pythonUnusable);
        } catch (error) {
          if (!(error instanceof SourceUnavailable)) throw error;
          reasons.push(error.text);
        }
      }
    } finally {
      onWork(null);
    }
    throw new SourceUnavailable(() =>
      m.pythonMissing({ version: oldestPython, reasons: reasons.map(readText).join(' ') }),
    );
  }

  #report(step: Text, percent?: number): void {
    this.#options.onWork({ step, percent: percent ?? null });
    for (const report of this.#reports) report(step, percent);
  }
}
