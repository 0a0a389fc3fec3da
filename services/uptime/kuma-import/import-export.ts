import * as m from '#messages/uptime-problems';
import { z } from 'zod';
import { ignoredOptions } from '../domain/ignored-options.ts';
import { redactedFields } from '../wire/redacted.ts';
import { Problem } from '../../contracts/problem.ts';
import { MaintenanceConfig } from '../../contracts/uptime/maintenance.ts';
import type { manageApi, UptimeExport } from '../../contracts/uptime/manage.ts';
import { MonitorConfig } from '../../contracts/uptime/monitor.ts';
import { PageNote, PublicGroup, StatusPageConfig } from '../../contracts/uptime/status-pages.ts';
import { ProxyFields } from '../../contracts/uptime/proxies.ts';
import { NewDockerHost } from '../../contracts/uptime/views.ts';
import type { PastOutage } from '../store/incidents.ts';
import type { StatusPages } from '../store/status-pages.ts';
import type { UptimeStores } from '../store/stores.ts';
import type { Monitoring } from '../monitoring/monitoring.ts';
import { sortGroupsFirst, toMonitorFields, type ImportSource } from './backup.ts';
import { findOutages, writeOutages, writeHistory, type HistoryDependencies } from './history-import.ts';

export interface ImportDependencies extends HistoryDependencies {
  readonly monitoring: Monitoring;
  readonly stores: UptimeStores;
  readonly pages: StatusPages;
}

export type ImportResult = z.infer<typeof manageApi.import.reply>;
type Fields = Readonly<Record<string, unknown>>;

/** Imported note; an unknown style becomes `info`. */
const PastNote = PageNote.extend({
  style: PageNote.shape.style.catch('info'),
  pin: z.boolean(),
  active: z.boolean(),
  createdAt: z.number().optional(),
});

/** Collects the entries of an import that were skipped, and why. */
class SkippedEntries {
  readonly list: ImportResult['skipped'];

  constructor(unsupported: NonNullable<ImportSource['unsupported']>) {
    this.list = unsupported.map((one) => ({ ...one, why: m.importUnsupported() }));
  }

  add(kind: string, name: string, why: string): void {
    this.list.push({ what: kind, name, why });
  }

  /** Imports an entry; an invalid one is skipped. */
  async attempt(kind: string, name: unknown, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Problem) && !(error instanceof z.ZodError)) throw error;
      const why = error instanceof Problem ? error.detail : z.prettifyError(error);
      this.add(kind, typeof name === 'string' ? name : '', why);
    }
  }
}

/** New IDs by the IDs of the import. */
type ImportedIds = ReadonlyMap<number, number>;

/** Exports the configuration without secrets, which only the backup of the host contains. */
export async function exportAll({
  monitoring: { monitors, maintenances },
  stores: { tags, dockerHosts, proxies },
  pages,
}: ImportDependencies): Promise<UptimeExport> {
  return {
    format: 'homeport-uptime',
    version: 1,
    tags: [...tags.all.values()].map((tag) => ({ ...tag })),
    dockerHosts: await dockerHosts.list(),
    proxies: proxies.all().map(({ password: _, ...fields }) => ({ ...fields })),
    monitors: monitors.all().map(({ id, config }) => ({
      id,
      ...Object.fromEntries(Object.entries(redactedFields(config, '')).filter(([, value]) => value !== null)),
    })),
    statusPages: pages.all().map(({ id, config, groups }) => ({ ...config, id, publicGroupList: [...groups] })),
    maintenances: maintenances.all().map((one) => ({ ...MaintenanceConfig.parse(one), id: one.id })),
  };
}

/** Adds the contents of an import to the existing configuration. Invalid entries are skipped and reported. */
export async function importAll(dependencies: ImportDependencies, source: ImportSource): Promise<ImportResult> {
  const skipped = new SkippedEntries(source.unsupported ?? []);
  const tags = await importTags(dependencies.stores, source);
  const engines = await importEngines(dependencies, source, skipped);
  const proxies = await importProxies(dependencies, source, skipped);
  const monitors = await importMonitors(dependencies, source, { tags: tags.ids, engines, proxies, skipped });
  await importDependencies(dependencies.monitoring, source, monitors);
  const pages = await importPages(dependencies, source, { monitors, skipped });
  const windows = await importMaintenances(dependencies, source, { monitors, pages, skipped });
  return {
    monitors: monitors.size,
    tags: tags.added,
    dockerHosts: engines.size,
    proxies: proxies.size,
    statusPages: pages.size,
    maintenances: windows,
    notifications: [...(source.notifications ?? [])],
    skipped: skipped.list,
  };
}

async function importEngines(
  { stores: { dockerHosts } }: ImportDependencies,
  source: ImportSource,
  skipped: SkippedEntries,
): Promise<ImportedIds> {
  const ids = new Map<number, number>();
  for (const engine of source.dockerHosts) {
    await skipped.attempt('dockerHost', engine['name'], async () => {
      ids.set(Number(engine['id']), (await dockerHosts.put(NewDockerHost.parse(engine))).id);
    });
  }
  return ids;
}

/** Imports proxies; one with the address and user of an existing proxy is not added again. */
async function importProxies(
  { stores: { proxies } }: ImportDependencies,
  source: ImportSource,
  skipped: SkippedEntries,
): Promise<ImportedIds> {
  const ids = new Map<number, number>();
  for (const entry of source.proxies) {
    await skipped.attempt('proxy', entry['host'], async () => {
      const parsed = ProxyFields.parse(entry);
      const fields = { ...parsed, default: parsed.default && !proxies.all().some((one) => one.default) };
      const { protocol, host, port, username } = fields;
      const existing = proxies
        .all()
        .find(
          (one) =>
            one.protocol === protocol && one.host === host && one.port === port && one.username === (username ?? ''),
        );
      ids.set(Number(entry['id']), (existing ?? (await proxies.put(fields))).id);
    });
  }
  return ids;
}

/** Imports monitors with their history. */
async function importMonitors(
  dependencies: ImportDependencies,
  source: ImportSource,
  imported: {
    readonly tags: ImportedIds;
    readonly engines: ImportedIds;
    readonly proxies: ImportedIds;
    readonly skipped: SkippedEntries;
  },
): Promise<ImportedIds> {
  const { tags, engines, proxies, skipped } = imported;
  const monitors = new Map<number, number>();
  const pastIncidents: PastOutage[] = [];
  for (const monitor of sortGroupsFirst(source.monitors)) {
    await skipped.attempt('monitor', monitor['name'], async () => {
      const config = MonitorConfig.parse(toMonitorFields(monitor, { tags, engines, proxies, monitors }));
      const added = await dependencies.monitoring.monitors.add(config, { lenient: true });
      monitors.set(Number(monitor['id']), added.id);
      for (const why of ignoredOptions(config)) skipped.add('option', config.name, why);
      if (Number(monitor['proxyId']) > 0 && config.proxyId === null)
        skipped.add('option', config.name, m.importProxyMissing());
      const now = dependencies.context.clock.now();
      const past = await source.readHistory?.(Number(monitor['id']), now);
      if (past === undefined) return;
      await writeHistory(dependencies, added, past, now);
      pastIncidents.push(...findOutages(added.id, past.heartbeats));
    });
  }
  await writeOutages(dependencies, pastIncidents);
  return monitors;
}

async function importPages(
  dependencies: ImportDependencies,
  source: ImportSource,
  { monitors, skipped }: { readonly monitors: ImportedIds; readonly skipped: SkippedEntries },
): Promise<ImportedIds> {
  const ids = new Map<number, number>();
  for (const page of source.statusPages) {
    await skipped.attempt('statusPage', page['title'], async () => {
      const isLocked = page['access'] === 'password';
      // Passwords are not exported, and a page must not become public without its password.
      const fields = isLocked ? { ...page, access: 'accounts' } : page;
      ids.set(Number(page['id']), await importPage(dependencies, fields, monitors));
      if (isLocked) skipped.add('option', String(page['title']), m.importPasswordMissing());
    });
  }
  return ids;
}

/** Imports maintenance windows and returns their number. */
async function importMaintenances(
  { monitoring: { maintenances } }: ImportDependencies,
  source: ImportSource,
  imported: { readonly monitors: ImportedIds; readonly pages: ImportedIds; readonly skipped: SkippedEntries },
): Promise<number> {
  const { monitors, pages, skipped } = imported;
  let count = 0;
  for (const window of source.maintenances) {
    await skipped.attempt('maintenance', window['title'], async () => {
      const config = MaintenanceConfig.parse(window);
      await maintenances.add({
        ...config,
        monitors: config.monitors.flatMap((id) => monitors.get(id) ?? []),
        statusPages: config.statusPages.flatMap((id) => pages.get(id) ?? []),
      });
      count += 1;
    });
  }
  return count;
}

/** Imports tags; tags with equal names are merged. */
async function importTags({ tags }: UptimeStores, source: ImportSource) {
  const ids = new Map<number, number>();
  let added = 0;
  for (const { id, name, color } of source.tags) {
    const existing = [...tags.all.values()].find((tag) => tag.name === name);
    if (existing === undefined) added += 1;
    ids.set(id, (existing ?? (await tags.add({ name, color }))).id);
  }
  return { ids, added };
}

/** Imports dependencies after all monitors, because a dependency may follow its dependent. */
async function importDependencies({ monitors }: Monitoring, source: ImportSource, ids: ImportedIds) {
  for (const { id, dependsOn } of source.monitors) {
    const importedId = ids.get(Number(id));
    if (importedId === undefined || !Array.isArray(dependsOn) || dependsOn.length === 0) continue;
    const hosts = dependsOn.flatMap((one) => ids.get(Number(one)) ?? []);
    await monitors.change(importedId, { dependsOn: hosts }, { merge: true, lenient: true });
  }
}

async function importPage({ pages }: ImportDependencies, page: Fields, ids: ImportedIds): Promise<number> {
  const config = StatusPageConfig.parse(page);
  const groups = z.array(PublicGroup).parse(page['publicGroupList'] ?? []);
  const { id } = await pages.add(config.slug, config.title);
  await pages.change(
    config.slug,
    config,
    groups.map(({ name, monitorList }) => ({
      name,
      monitorList: monitorList.flatMap((one) => {
        const importedId = ids.get(one.id);
        return importedId === undefined ? [] : [{ ...one, id: importedId }];
      }),
    })),
  );
  const notes = z.array(PastNote).parse(page['notes'] ?? []);
  for (const note of notes) await pages.addPastNote(pages.get(config.slug), note);
  return id;
}
