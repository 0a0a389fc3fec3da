import type { Log, ServiceDescriptor } from '../../../services/contracts/service.ts';
import type { SettingsProblem, SettingsView } from '../../../services/contracts/control/settings.ts';
import type { Content } from './document.ts';
import type { WriteStep } from './file.ts';
import type { CommandLineSettings } from './layers.ts';
import type { SettingsVault } from './sealing.ts';
import type { Change, Settings } from './settings.ts';

export interface ConfigOptions {
  /** Made (0700) when it is not there. */
  readonly dataDir: string;
  readonly descriptors: readonly ServiceDescriptor[];
  readonly environment: NodeJS.ProcessEnv;
  readonly commandLine: CommandLineSettings;
  readonly log: Log;
  /** For reading beside a running host: writes nothing and leaves HOMEPORT_CONFIG to it. */
  readonly readOnly?: boolean;
  /**
   * Opens the vault that the file's secrets are sealed with. It is asked once, with the settings as far as they can be read
   * without it. Without one, sealed secrets count as not set and none is sealed: for commands that need no secret.
   */
  readonly openVault?: (settings: Settings) => Promise<SettingsVault>;
  /** Called before each step of a write, for tests of crashes. */
  readonly step?: WriteStep;
}

/** May look at the next settings and refuse them by throwing, before anything is saved. Must not wait for another change. */
export type Verify = (next: Settings) => Promise<void> | void;

/** The settings of the host and all services: one file, with the environment and the command line over it. */
export interface Config {
  /** Absolute path of homeport.yaml. */
  readonly file: string;
  /** What could not be used; the defaults stand in for it. */
  readonly problems: readonly SettingsProblem[];
  /** Those of them that are one service's own. */
  problemsOf(serviceId: string): readonly SettingsProblem[];
  readonly warnings: readonly SettingsProblem[];
  /** Paths of secrets that are set and were not opened, since no vault was given. */
  readonly closed: readonly string[];
  /** Set while the file of HOMEPORT_CONFIG has portable parts that were not applied yet. */
  readonly provision: PortableProvision | undefined;
  read(): Settings;
  /** What the file says, without the layers above it: what an export is made of. Holds secrets. */
  content(): Content;
  /** For pages: holds no secret. */
  describe(): SettingsView;
  /**
   * Verifies and saves a change of one section (`host` or a service's id); applying it is the caller's. Changes run one
   * after another. Null goes back to the default. What was changed in the file by hand meanwhile is taken along.
   * @throws Problem `config.unknown_section` (404), `config.locked` (409), `config.invalid` (422, with `fields`),
   * `config.unwritable` (507); and whatever `verify` throws.
   */
  change(sectionId: string, patch: Readonly<Record<string, unknown>>, verify?: Verify): Promise<Change>;
  /**
   * Takes along what was changed in the file by hand.
   * @throws Problem `config.invalid` (422) when the file or the host's section cannot be used; what is in effect stays.
   */
  reread(): Promise<Change>;
  /** Makes the known settings of all sections those of `content`, as an import does. Throws as `change` does. */
  replace(content: Content, verify?: Verify): Promise<Change>;
  /** Called after each saved change that altered a value, in order. */
  onChange(listener: (settings: Settings, change: Change) => void): Disposable;
}

/** The portable parts (accounts, destinations, …) of a file that HOMEPORT_CONFIG names. */
export interface PortableProvision {
  readonly portable: Readonly<Record<string, unknown>>;
  /** To be called after they were imported; they are not offered again until the file changes. */
  done(): Promise<void>;
}
