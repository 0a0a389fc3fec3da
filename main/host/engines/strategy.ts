import type { EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import type { Log } from '../../../services/contracts/service.ts';
import type { EngineFolder } from './folder.ts';

export interface InstallOrder {
  readonly spec: EngineSpec;
  readonly folder: EngineFolder;
  readonly log: Log;
  /** Says what is being done; `percent` where the whole is known. */
  readonly report: (step: string, percent?: number) => void;
}

/** One way to bring an engine onto this machine. */
export interface Strategy {
  /** As a person reads it: "the official release", "the package registry". */
  readonly title: string;
  /** @throws PassedOver when this way is not open here, any other error when it failed on the way. */
  install(order: InstallOrder): Promise<void>;
}

/** Says plainly why a strategy does not apply or did not work; the next one is tried. */
export class PassedOver extends Error {
  override readonly name = 'PassedOver';
}
