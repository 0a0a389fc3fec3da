import { z } from 'zod';
import { toPatchSchema } from '../contracts/patch-schema.ts';
import { Problem } from '../contracts/problem.ts';
import type { Log } from '../contracts/service.ts';
import { MaintenanceConfig } from '../contracts/uptime/maintenance.ts';
import { MonitorConfig } from '../contracts/uptime/monitor.ts';
import { StatusPageConfig } from '../contracts/uptime/status-pages.ts';
import type { Provisioned } from './settings.ts';
import type { StatusPages } from './store/status-pages.ts';
import type { Maintenances } from './monitoring/maintenances.ts';
import type { Monitors } from './monitoring/monitors.ts';

export interface ProvisionParts {
  readonly monitors: Monitors;
  readonly pages: StatusPages;
  readonly maintenances: Maintenances;
  readonly log: Log;
}

/** Entries of the settings, identified by name (monitors), address (pages) or title (windows). */
const Wanted = {
  monitor: z.looseObject({
    name: z.string(),
    parent: z.union([z.string(), z.number(), z.null()]).optional(),
    dependsOn: z.array(z.union([z.string(), z.number()])).nullish(),
  }),
  page: z.looseObject({
    slug: z.string(),
    groups: z.array(z.object({ name: z.string(), monitors: z.array(z.string()) })).optional(),
  }),
  window: z.looseObject({
    title: z.string(),
    monitors: z.array(z.union([z.string(), z.number()])).optional(),
    statusPages: z.array(z.union([z.string(), z.number()])).optional(),
  }),
};

/**
 * Applies the monitors, status pages and maintenance windows of the settings. Provisioned monitors that are no longer
 * listed are removed; others are kept, unless they have the same name. Invalid entries are logged and skipped.
 */
export async function provision(
  parts: ProvisionParts,
  { monitors, statusPages, maintenances }: Provisioned,
): Promise<void> {
  const names = await provisionMonitors(parts, monitors);
  const idOf = (one: string | number): number[] => (typeof one === 'number' ? [one] : names(one));
  for (const given of statusPages) {
    await attempt(parts, 'status page', given['slug'], async () => {
      const { groups, ...fields } = Wanted.page.parse(given);
      const config = toPatchSchema(StatusPageConfig).parse(fields);
      const slug = StatusPageConfig.shape.slug.parse(fields.slug);
      if (parts.pages.find(slug) === undefined) await parts.pages.add(slug, config.title ?? slug);
      const list = groups?.map((group) => ({
        name: group.name,
        monitorList: group.monitors.flatMap(idOf).map((id) => ({ id, sendUrl: false })),
      }));
      await parts.pages.change(slug, config, list);
    });
  }
  for (const given of maintenances) {
    await attempt(parts, 'maintenance', given['title'], async () => {
      const { monitors: covered = [], statusPages: shown = [], ...fields } = Wanted.window.parse(given);
      const pageOf = (one: string | number): number[] => (typeof one === 'number' ? [one] : idsOfPage(parts, one));
      const lists = { monitors: covered.flatMap(idOf), statusPages: shown.flatMap(pageOf) };
      const known = parts.maintenances.all().find(({ title }) => title === fields.title);
      if (known === undefined) await parts.maintenances.add(MaintenanceConfig.parse({ ...fields, ...lists }));
      else await parts.maintenances.change(known.id, { ...fields, ...lists });
    });
  }
}

async function provisionMonitors(parts: ProvisionParts, wanted: Provisioned['monitors']) {
  const { monitors } = parts;
  const find = (name: string): number[] =>
    monitors
      .all()
      .filter(({ config }) => config.name === name)
      .map(({ id }) => id)
      .slice(0, 1);
  const kept = new Set<string>();
  const groupsFirst = wanted.toSorted((a, b) => Number(b['type'] === 'group') - Number(a['type'] === 'group'));
  for (const given of groupsFirst) {
    await attempt(parts, 'monitor', given['name'], async () => {
      const { parent, dependsOn, ...fields } = Wanted.monitor.parse(given);
      kept.add(fields.name);
      const group = typeof parent === 'string' ? (find(parent)[0] ?? null) : (parent ?? null);
      const hosts = (dependsOn ?? []).flatMap((one) => (typeof one === 'number' ? [one] : find(one)));
      const config = { ...fields, parent: group, dependsOn: hosts, provisioned: true };
      const [id] = find(fields.name);
      if (id === undefined) await monitors.add(MonitorConfig.parse(config));
      else if (differs(monitors.get(id).config, config)) await monitors.change(id, config, { merge: true });
    });
  }
  for (const { id, config } of monitors.all()) {
    if (config['provisioned'] === true && !kept.has(config.name)) await monitors.remove(id, { children: false });
  }
  return find;
}

function idsOfPage({ pages }: ProvisionParts, slug: string): number[] {
  const page = pages.find(slug);
  return page === undefined ? [] : [page.id];
}

/** Returns true when a monitor differs from the settings. Unchanged monitors are not restarted. */
function differs(config: Readonly<Record<string, unknown>>, wanted: Readonly<Record<string, unknown>>): boolean {
  const parsed: Readonly<Record<string, unknown>> = MonitorConfig.partial().parse(wanted);
  return Object.keys(wanted).some((name) => JSON.stringify(config[name]) !== JSON.stringify(parsed[name]));
}

async function attempt({ log }: ProvisionParts, what: string, name: unknown, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Problem) && !(error instanceof z.ZodError)) throw error;
    const why = error instanceof Problem ? error.detail : z.prettifyError(error);
    log.error('something in the settings could not be set up', { what, name, why });
  }
}
