import type { Text } from '../../../services/contracts/text.ts';
import type { Computer, EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import type { Log } from '../../../services/contracts/service.ts';
import type { EngineFolder } from './folder.ts';
import type { PythonFinder } from './python.ts';

export interface InstallOptions {
  readonly spec: EngineSpec;
  readonly folder: EngineFolder;
  /** Engines that are installed together with it. */
  readonly parts: readonly EngineSpec[];
  readonly computer: Computer;
  readonly python: PythonFinder;
  readonly log: Log;
  /** Reports the current step; `percent` when the total is known. */
  readonly report: (step: Text, percent?: number) => void;
}

/** Installation method of an engine. */
export interface Strategy {
  /** Name for display: "Official release". */
  readonly title: Text;
  /** @throws SourceUnavailable when the method does not apply, any other error when it failed. */
  install(order: InstallOptions): Promise<void>;
}
