import { z } from 'zod';
import { ignoredOptions } from '../domain/ignored-options.ts';
import { redactedFields } from '../wire/redacted.ts';
import { Problem } from '../../contracts/problem.ts';
import { MaintenanceConfig } from '../../contracts/uptime/maintenance.ts';
import type { manageApi, UptimeExport } from '../../contracts/uptime/manage.ts';
import { MonitorConfig } from '../../contracts/uptime/monitor.ts';
import { PageNote, PublicGroup, StatusPageConfig } from '../../contracts/uptime/status-pages.ts';
import { NewDockerHost } from '../../contracts/uptime/views.ts';
import type { DockerHosts } from '../store/docker-hosts.ts';
import type { PastOutage } from '../store/incidents.ts';
import type { StatusPages } from '../store/status-pages.ts';
import type { Tags } from '../store/tags.ts';
import type { Maintenances } from '../monitoring/maintenances.ts';
import type { Monitors } from '../monitoring/monitors.ts';
import { inOrder, ownFields, type Holding } from './backup.ts';
import { outagesOf, writeOutages, writePast, type PastParts } from './history-import.ts';

export interface MoveParts extends PastParts {
  readonly monitors: Monitors;
  readonly tags: Tags;
  readonly dockerHosts: DockerHosts;
  readonly pages: StatusPages;
  readonly maintenances: Maintenances;
}

export type Imported = z.infer<typeof manageApi.import.reply>;
type Fields = Readonly<Record<string, unknown>>;

/** Imported note; an unknown style becomes `info`. */
const PastNote = PageNote.extend({
  style: PageNote.shape.style.catch('info'),
  pin: z.boolean(),
  active: z.boolean(),
  createdAt: z.number().optional(),
});

/** Exports the configuration without secrets, which only the backup of the host contains. */
export async function exportAll({
  monitors,
  tags,
  dockerHosts,
  pages,
  maintenances,
}: MoveParts): Promise<UptimeExport> {
  return {
    format: 'homeport-uptime',
    version: 1,
    tags: [...tags.known.values()].map((tag) => ({ ...tag })),
    dockerHosts: await dockerHosts.list(),
    monitors: monitors.all().map(({ id, config }) => ({
      id,
      ...Object.fromEntries(Object.entries(redactedFields(config, '')).filter(([, value]) => value !== null)),
    })),
    statusPages: pages.all().map(({ id, config, groups }) => ({ ...config, id, publicGroupList: [...groups] })),
    maintenances: maintenances.all().map((one) => ({ ...MaintenanceConfig.parse(one), id: one.id })),
  };
}

/** Adds the contents of an import to the existing configuration. Invalid entries are skipped and reported. */
export async function importAll(parts: MoveParts, holding: Holding): Promise<Imported> {
  const skipped: Imported['skipped'] = (holding.left ?? []).map((one) => ({
    ...one,
    why: 'There is no such thing here.',
  }));
  const attempt = async (what: string, name: unknown, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Problem) && !(error instanceof z.ZodError)) throw error;
      const why = error instanceof Problem ? error.detail : z.prettifyError(error);
      skipped.push({ what, name: typeof name === 'string' ? name : '', why });
    }
  };
  const tags = await importTags(parts, holding);
  const engines = new Map<number, number>();
  for (const engine of holding.dockerHosts) {
    await attempt('dockerHost', engine['name'], async () => {
      engines.set(Number(engine['id']), (await parts.dockerHosts.put(NewDockerHost.parse(engine))).id);
    });
  }
  const monitors = new Map<number, number>();
  const outages: PastOutage[] = [];
  for (const monitor of inOrder(holding.monitors)) {
    await attempt('monitor', monitor['name'], async () => {
      const config = MonitorConfig.parse(ownFields(monitor, { tags: tags.ids, engines, monitors }));
      const added = await parts.monitors.add(config, { lenient: true });
      monitors.set(Number(monitor['id']), added.id);
      for (const why of ignoredOptions(config)) skipped.push({ what: 'option', name: config.name, why });
      const now = parts.context.clock.now();
      const past = await holding.past?.(Number(monitor['id']), now);
      if (past === undefined) return;
      await writePast(parts, added, past, now);
      outages.push(...outagesOf(added.id, past.beats));
    });
  }
  await writeOutages(parts, outages);
  await connectDependents(parts, holding, monitors);
  const pages = new Map<number, number>();
  for (const page of holding.statusPages) {
    await attempt('statusPage', page['title'], async () => {
      pages.set(Number(page['id']), await importPage(parts, page, monitors));
    });
  }
  let windows = 0;
  for (const window of holding.maintenances) {
    await attempt('maintenance', window['title'], async () => {
      const config = MaintenanceConfig.parse(window);
      await parts.maintenances.add({
        ...config,
        monitors: config.monitors.flatMap((id) => monitors.get(id) ?? []),
        statusPages: config.statusPages.flatMap((id) => pages.get(id) ?? []),
      });
      windows += 1;
    });
  }
  return {
    ...{ monitors: monitors.size, tags: tags.added, dockerHosts: engines.size, statusPages: pages.size },
    ...{ maintenances: windows, notifications: [...(holding.notifications ?? [])], skipped },
  };
}

/** Imports tags; tags with equal names are merged. */
async function importTags({ tags }: MoveParts, holding: Holding) {
  const ids = new Map<number, number>();
  let added = 0;
  for (const { id, name, color } of holding.tags) {
    const known = [...tags.known.values()].find((tag) => tag.name === name);
    if (known === undefined) added += 1;
    ids.set(id, (known ?? (await tags.add({ name, color }))).id);
  }
  return { ids, added };
}

/** Imports dependencies after all monitors, because a dependency may follow its dependent. */
async function connectDependents({ monitors }: MoveParts, holding: Holding, ids: ReadonlyMap<number, number>) {
  for (const { id, dependsOn } of holding.monitors) {
    const own = ids.get(Number(id));
    if (own === undefined || !Array.isArray(dependsOn) || dependsOn.length === 0) continue;
    const hosts = dependsOn.flatMap((one) => ids.get(Number(one)) ?? []);
    await monitors.change(own, { dependsOn: hosts }, { merge: true, lenient: true });
  }
}

async function importPage({ pages }: MoveParts, page: Fields, ids: ReadonlyMap<number, number>): Promise<number> {
  const config = StatusPageConfig.parse(page);
  const groups = z.array(PublicGroup).parse(page['publicGroupList'] ?? []);
  const { id } = await pages.add(config.slug, config.title);
  await pages.change(
    config.slug,
    config,
    groups.map(({ name, monitorList }) => ({
      name,
      monitorList: monitorList.flatMap((one) => {
        const own = ids.get(one.id);
        return own === undefined ? [] : [{ ...one, id: own }];
      }),
    })),
  );
  const notes = z.array(PastNote).parse(page['notes'] ?? []);
  for (const note of notes) await pages.addPastNote(pages.get(config.slug), note);
  return id;
}
