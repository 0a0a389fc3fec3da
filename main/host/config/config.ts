import type { Log, ServiceDescriptor } from '../../../services/contracts/service.ts';
import type { SettingsProblem, SettingsView } from '../../../services/contracts/control/settings.ts';
import type { Content } from './document.ts';
import type { WriteStep } from './file.ts';
import type { CommandLineSettings } from './layers.ts';
import type { SettingsVault } from './sealing.ts';
import type { Change, Settings } from './settings.ts';

export interface ConfigOptions {
  /** Created (0700) if missing. */
  readonly dataDir: string;
  readonly descriptors: readonly ServiceDescriptor[];
  readonly environment: NodeJS.ProcessEnv;
  readonly commandLine: CommandLineSettings;
  readonly log: Log;
  /** For reading beside a running host: writes nothing and does not apply HOMEPORT_CONFIG. */
  readonly readOnly?: boolean;
  /**
   * Opens the vault for sealed secrets in the file. Called once, with the settings that can be read without it.
   * Without a vault, sealed secrets count as not set and none is sealed: for commands that need no secret.
   */
  readonly openVault?: (settings: Settings) => Promise<SettingsVault>;
  /** Called before each step of a write, for crash tests. */
  readonly step?: WriteStep;
}

/** Validates the next settings before they are saved, and throws to refuse them. Must not wait for another change. */
export type Verify = (next: Settings) => Promise<void> | void;

/** Settings of the host and all services: one file, overridden by the environment and the command line. */
export interface Config {
  /** Absolute path of homeport.yaml. */
  readonly file: string;
  /** Invalid values, in the current language; the defaults apply instead. */
  readonly problems: readonly SettingsProblem[];
  /**
   * Returns the problems that one service has now, as a function that returns them in the language of its caller, also
   * after later changes.
   */
  getProblems(serviceId: string): () => readonly SettingsProblem[];
  readonly warnings: readonly SettingsProblem[];
  /** Paths of secrets that are set but were not opened, since no vault was given. */
  readonly closed: readonly string[];
  /** Set while the file of HOMEPORT_CONFIG has portable parts that were not applied yet. */
  readonly provision: PortableProvision | undefined;
  read(): Settings;
  /** Returns the content of the file without overrides, from which exports are made. Contains secrets. */
  content(): Content;
  /** For pages, in the current language: contains no secret. */
  describe(): SettingsView;
  /**
   * Validates and saves a change of one section (`host` or a service's id); the caller applies it. Changes run
   * sequentially. Null restores the default. Manual changes of the file in the meantime are included.
   * @throws Problem `config.unknown_section` (404), `config.locked` (409), `config.invalid` (422, with `fields`),
   * `config.unwritable` (507); and whatever `verify` throws.
   */
  change(sectionId: string, patch: Readonly<Record<string, unknown>>, verify?: Verify): Promise<Change>;
  /**
   * Reads manual changes of the file.
   * @throws Problem `config.invalid` (422) when the file or the host's section is invalid; the effective settings are
   * unchanged.
   */
  reread(): Promise<Change>;
  /** Replaces the known settings of all sections by `content`, as an import does. Throws like `change`. */
  replace(content: Content, verify?: Verify): Promise<Change>;
  /** Calls the listener after each saved change that altered a value, in order. */
  onChange(listener: (settings: Settings, change: Change) => void): Disposable;
}

/** Portable parts (accounts, destinations, …) of a file that HOMEPORT_CONFIG names. */
export interface PortableProvision {
  readonly portable: Readonly<Record<string, unknown>>;
  /** Call after the import; they are not offered again until the file changes. */
  done(): Promise<void>;
}
