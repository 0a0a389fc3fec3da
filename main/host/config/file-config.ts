import * as m from '#messages/config-problems';
import { join, resolve } from 'node:path';
import { Problem } from '../../../services/contracts/problem.ts';
import type { SettingsProblem, SettingsView } from '../../../services/contracts/control/settings.ts';
import { checkDocument } from './check.ts';
import type { Config, ConfigOptions, PortableProvision, Verify } from './config.ts';
import {
  emptyDocument,
  readDocument,
  setField,
  writeDocument,
  type Content,
  type SettingsDocument,
} from './document.ts';
import { resolveLayers, type OuterLayers, type Resolved } from './layers.ts';
import { applyPatch, invalidSettings, refuseNewProblems } from './patch.ts';
import { markProvisioned, mergeProvision, getProvisioned, readProvision, type Provision } from './provision.ts';
import { openDocument, sealText, type SettingsVault } from './sealing.ts';
import { readSecret } from './secret-files.ts';
import { SettingsFile, type LoadedSettings } from './settings-file.ts';
import { settingsSections, type Section } from './sections.ts';
import { compare, getServiceSettings, buildSettings, type Change, type Settings } from './settings.ts';
import { buildSettingsView } from './view.ts';
import { getLanguage, sourceLanguage, withLanguage } from '../../../messages/language.ts';
import { runOutsideRequests } from '../../../services/kit/language.ts';
import { SerialQueue } from '../../../services/kit/serial-queue.ts';

interface State {
  readonly document: SettingsDocument;
  readonly closed: readonly string[];
  readonly resolved: Resolved;
  readonly settings: Settings;
  /** Result with its texts in other languages than English, by language. */
  readonly translated: Map<string, Resolved>;
}

/**
 * Reads homeport.yaml, migrates it and applies the file of HOMEPORT_CONFIG. An invalid homeport.yaml does not throw:
 * see {@link Config.problems}.
 * @throws Problem `config.invalid` (422) or `config.missing` (404) for the file of HOMEPORT_CONFIG, `config.secret_file`
 * (422).
 */
export async function openConfig(options: ConfigOptions): Promise<Config> {
  const sections = withLanguage(sourceLanguage, () => settingsSections(options.descriptors));
  const databaseUrl = readSecret(options.environment, 'HOMEPORT_DATABASE_URL');
  const environment = {
    ...options.environment,
    ...(databaseUrl === undefined ? {} : { HOMEPORT_DATABASE_URL: databaseUrl }),
  };
  const config = new FileConfig({ ...options, environment }, sections);
  await config.open();
  return config;
}

class FileConfig implements Config {
  readonly file: string;
  readonly #options: ConfigOptions;
  /** In English. */
  readonly #sections: readonly Section[];
  /** Sections in other languages than English, by language. Building them takes longer than all else of a request. */
  readonly #translatedSections = new Map<string, readonly Section[]>();
  readonly #disk: SettingsFile;
  readonly #listeners = new Set<(settings: Settings, change: Change) => void>();
  #state: State;
  #provision: PortableProvision | undefined;
  #vault: SettingsVault | undefined;
  readonly #changes = new SerialQueue();

  constructor(options: ConfigOptions, sections: readonly Section[]) {
    this.file = join(resolve(options.dataDir), 'homeport.yaml');
    this.#options = options;
    this.#sections = sections;
    this.#disk = new SettingsFile(this.file, sections, options.log, options.step);
    this.#state = this.#resolve(emptyDocument());
  }

  get problems(): readonly SettingsProblem[] {
    return this.#translate(this.#state).problems;
  }

  getProblems(serviceId: string): () => readonly SettingsProblem[] {
    const state = this.#state;
    return () => this.#translate(state).problems.filter(({ path }) => getServiceSettings(path) === serviceId);
  }

  get warnings(): readonly SettingsProblem[] {
    return this.#translate(this.#state).warnings;
  }

  get closed(): readonly string[] {
    return this.#state.closed;
  }

  get provision(): PortableProvision | undefined {
    return this.#provision;
  }

  async open(): Promise<void> {
    const readOnly = this.#options.readOnly === true;
    if (!readOnly) await this.#disk.prepare();
    const loaded = await this.#disk.load();
    const { document } = loaded;
    const provision = readOnly ? undefined : await this.#newProvision(document);
    this.#vault = await this.#options.openVault?.(this.#readable(document, provision));
    this.#state = this.#resolve(document);
    if (!readOnly) {
      await this.#bringUpToDate(loaded);
      await this.#applyProvision(provision);
    }
    const { problems, warnings } = this.#state.resolved;
    for (const { path, message, line } of problems)
      this.#options.log.error('setting refused', { path, reason: message, line });
    for (const { path, message, line } of warnings)
      this.#options.log.warn('setting unknown', { path, reason: message, line });
  }

  read(): Settings {
    return this.#state.settings;
  }

  content(): Content {
    return this.#state.document.content;
  }

  describe(): SettingsView {
    return buildSettingsView(this.#translate(this.#state));
  }

  /** Returns the settings with their texts in the current language. */
  #translate({ document, resolved, translated }: State): Resolved {
    const language = getLanguage();
    if (language === sourceLanguage) return resolved;
    const existing = translated.get(language);
    if (existing !== undefined) return existing;
    // The locale of this reader, who may be in another country than the next one, has no effect.
    const created = withLanguage(language, () => resolveLayers(this.#translateSections(), document, this.#outerLayers));
    translated.set(language, created);
    return created;
  }

  /** Returns the sections with their texts in the current language. */
  #translateSections(): readonly Section[] {
    const language = getLanguage();
    const existing = this.#translatedSections.get(language);
    if (existing !== undefined) return existing;
    const created = settingsSections(this.#options.descriptors);
    this.#translatedSections.set(language, created);
    return created;
  }

  get #outerLayers(): OuterLayers {
    const { environment, commandLine } = this.#options;
    return { environment, commandLine };
  }

  async change(sectionId: string, patch: Readonly<Record<string, unknown>>, verify?: Verify): Promise<Change> {
    const section = this.#sections.find(({ id }) => id === sectionId);
    if (section === undefined) throw new Problem('config.unknown_section', 404, m.sectionUnknown());
    const touched = Object.keys(patch).map((name) => [...section.path, name].join('.'));
    return this.#edit(touched, verify, (yaml, resolved) => {
      const current = resolved.sections.get(sectionId);
      if (current !== undefined) applyPatch(yaml, current, patch);
    });
  }

  async replace(content: Content, verify?: Verify): Promise<Change> {
    const touched = this.#sections.map(({ path }) => path.join('.'));
    return this.#edit(touched, verify, (yaml) => {
      for (const { id, path, fields } of this.#sections) {
        const values = id === 'host' ? content.host : (content.services[id] ?? {});
        for (const { name } of fields)
          setField(yaml, path, name, Object.hasOwn(values, name) ? values[name] : undefined);
      }
    });
  }

  async reread(): Promise<Change> {
    return this.#changes.run(async () => {
      const next = this.#resolve((await this.#disk.load()).document);
      const bad = this.#translate(next).problems.filter(({ path }) => getServiceSettings(path) === undefined);
      if (bad.length > 0) throw invalidSettings(bad);
      return this.#enter(next);
    });
  }

  onChange(listener: (settings: Settings, change: Change) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Validates and commits; runs sequentially. */
  async #edit(
    touched: readonly string[],
    verify: Verify | undefined,
    write: (yaml: SettingsDocument['yaml'], resolved: Resolved) => void,
  ): Promise<Change> {
    return this.#changes.run(async () => {
      const loaded = await this.#disk.load();
      const { document } = loaded;
      // A file that became unreadable does not discard the effective settings.
      const base = document.damaged ? this.#state.document : document;
      const before = this.#translate(document.damaged ? this.#state : this.#resolve(base));
      const changed = base.yaml.clone();
      write(changed, before);
      const yaml = this.#sealed(changed);
      const next = this.#resolve(readDocument(writeDocument(yaml)));
      const inFile = checkDocument(next.document, this.#sections).problems;
      refuseNewProblems(before.problems, this.#translate(next).problems, inFile, touched);
      await verify?.(next.settings);
      const typed = this.#sealed(base.yaml) !== base.yaml;
      await this.#disk.save(writeDocument(yaml), loaded);
      if (typed) await this.#sealCopies();
      return this.#enter(next);
    });
  }

  #enter(next: State): Change {
    const change = compare(this.#state.resolved, next.resolved);
    this.#state = next;
    if (change.changed.length === 0) return change;
    this.#options.log.info('settings changed', { event: 'settings_saved', fields: change.changed });
    for (const listener of this.#listeners) {
      try {
        runOutsideRequests(() => listener(next.settings, change));
      } catch (error) {
        this.#options.log.error('settings listener failed', { error });
      }
    }
    return change;
  }

  #resolve(read: SettingsDocument): State {
    const { document, closed } = openDocument(read, this.#sections, this.#vault);
    const resolved = withLanguage(sourceLanguage, () => resolveLayers(this.#sections, document, this.#outerLayers));
    return { document, closed, resolved, settings: buildSettings(resolved), translated: new Map() };
  }

  /** Returns the settings that can be read while the vault is closed. */
  #readable(document: SettingsDocument, provision: Provision | undefined): Settings {
    if (provision === undefined || getProvisioned(document).settings === provision.hash)
      return this.#resolve(document).settings;
    const yaml = document.yaml.clone();
    mergeProvision(yaml, provision, this.#sections);
    return this.#resolve(readDocument(writeDocument(yaml))).settings;
  }

  #sealed(yaml: SettingsDocument['yaml']): SettingsDocument['yaml'] {
    return (this.#vault && sealText(yaml, this.#sections, this.#vault)) ?? yaml;
  }

  /** Saves the result of a migration, and seals plain text secrets in the file. */
  async #bringUpToDate(loaded: LoadedSettings): Promise<void> {
    const { document } = loaded;
    const yaml = this.#sealed(document.yaml);
    if (document.migratedFrom !== undefined || yaml !== document.yaml) {
      try {
        await this.#disk.save(writeDocument(yaml), loaded);
        if (document.migratedFrom !== undefined)
          this.#options.log.info('settings migrated', { from: document.migratedFrom });
        if (yaml !== document.yaml) this.#options.log.info('secrets of the settings sealed');
      } catch (error) {
        // The settings take effect regardless; the next start or change retries.
        this.#options.log.warn('settings migration not saved', { error });
      }
    }
    await this.#sealCopies();
  }

  /** Copies of earlier versions contain the plain text as well. */
  async #sealCopies(): Promise<void> {
    await this.#disk.rewriteCopies((text) => {
      const { damaged, migratedFrom, yaml } = readDocument(text);
      if (damaged || migratedFrom !== undefined) return text;
      const sealed = this.#sealed(yaml);
      return sealed === yaml ? text : writeDocument(sealed);
    });
  }

  /** Reads the file of HOMEPORT_CONFIG, if any. */
  async #newProvision(document: SettingsDocument): Promise<Provision | undefined> {
    const named = this.#options.environment['HOMEPORT_CONFIG'];
    if (named === undefined || named.trim() === '' || resolve(named) === this.file) return undefined;
    if (document.damaged) {
      // Safe mode: a person has to repair the file; merging a provision into an empty document would hide the loss.
      this.#options.log.warn('HOMEPORT_CONFIG not applied while homeport.yaml cannot be read');
      return undefined;
    }
    return readProvision(named, this.#sections);
  }

  async #applyProvision(provision: Provision | undefined): Promise<void> {
    if (provision === undefined) return;
    const { content, hash } = provision;
    const applied = getProvisioned(this.#state.document);
    if (applied.settings !== hash) {
      await this.#edit([], undefined, (yaml) => mergeProvision(yaml, provision, this.#sections));
    }
    if (Object.keys(content.portable).length === 0 || applied.portable === hash) return;
    this.#provision = {
      portable: content.portable,
      done: async () => {
        await this.#edit([], undefined, (yaml) => markProvisioned(yaml, 'portable', hash));
        this.#provision = undefined;
      },
    };
  }
}
