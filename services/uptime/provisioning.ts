import * as m from '#messages/uptime-problems';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { toPatchSchema } from '../contracts/patch-schema.ts';
import { Problem } from '../contracts/problem.ts';
import type { Log } from '../contracts/service.ts';
import { MaintenanceConfig } from '../contracts/uptime/maintenance.ts';
import { MonitorConfig } from '../contracts/uptime/monitor.ts';
import { ProxyFields } from '../contracts/uptime/proxies.ts';
import { PagePassword, StatusPageConfig } from '../contracts/uptime/status-pages.ts';
import type { ProvisionedSettings } from './settings.ts';
import type { Proxies } from './store/proxies.ts';
import type { StatusPages } from './store/status-pages.ts';
import type { Maintenances } from './monitoring/maintenances.ts';
import type { Monitors } from './monitoring/monitors.ts';

export interface ProvisioningDependencies {
  readonly monitors: Monitors;
  readonly proxies: Proxies;
  readonly pages: StatusPages;
  readonly maintenances: Maintenances;
  readonly log: Log;
}

/** Entries of the settings, identified by name (monitors, proxies), address (pages) or title (windows). */
const ProvisionedSchema = {
  monitor: z.looseObject({
    name: z.string(),
    parent: z.union([z.string(), z.number(), z.null()]).optional(),
    dependsOn: z.array(z.union([z.string(), z.number()])).nullish(),
    proxy: z.string().nullish(),
  }),
  page: z.looseObject({
    slug: z.string(),
    password: PagePassword.optional(),
    groups: z.array(z.object({ name: z.string(), monitors: z.array(z.string()) })).optional(),
  }),
  window: z.looseObject({
    title: z.string(),
    monitors: z.array(z.union([z.string(), z.number()])).optional(),
    statusPages: z.array(z.union([z.string(), z.number()])).optional(),
  }),
};

/**
 * Applies the monitors, proxies, status pages and maintenance windows of the settings. Provisioned monitors that are no longer
 * listed are removed; others are kept, unless they have the same name. Invalid entries are logged and skipped.
 */
export async function provision(
  dependencies: ProvisioningDependencies,
  { monitors, proxies, statusPages, maintenances }: ProvisionedSettings,
): Promise<void> {
  await provisionProxies(dependencies, proxies);
  const names = await provisionMonitors(dependencies, monitors);
  const toIds = (one: string | number): number[] => (typeof one === 'number' ? [one] : names(one));
  for (const input of statusPages) await provisionPage(dependencies, input, toIds);
  for (const input of maintenances) {
    await attempt(dependencies, 'maintenance', input['title'], async () => {
      const {
        monitors: monitorNames = [],
        statusPages: pageNames = [],
        ...fields
      } = ProvisionedSchema.window.parse(input);
      const toPageIds = (one: string | number): number[] =>
        typeof one === 'number' ? [one] : findPageIds(dependencies, one);
      const lists = { monitors: monitorNames.flatMap(toIds), statusPages: pageNames.flatMap(toPageIds) };
      const existing = dependencies.maintenances.all().find(({ title }) => title === fields.title);
      if (existing === undefined) await dependencies.maintenances.add(MaintenanceConfig.parse({ ...fields, ...lists }));
      else await dependencies.maintenances.change(existing.id, { ...fields, ...lists });
    });
  }
}

/**
 * Applies a status page. A page whose entry is invalid keeps its former fields, but is not public any longer when the
 * entry restricts it.
 */
async function provisionPage(
  dependencies: ProvisioningDependencies,
  input: ProvisionedSettings['statusPages'][number],
  toIds: (monitor: string) => number[],
): Promise<void> {
  const { pages } = dependencies;
  const isApplied = await attempt(dependencies, 'status page', input['slug'], async () => {
    const { groups, password, ...fields } = ProvisionedSchema.page.parse(input);
    const config = toPatchSchema(StatusPageConfig).parse(fields);
    const slug = StatusPageConfig.shape.slug.parse(fields.slug);
    if (pages.find(slug) === undefined) await pages.add(slug, config.title ?? slug);
    const list = groups?.map((group) => ({
      name: group.name,
      monitorList: group.monitors.flatMap(toIds).map((id) => ({ id, sendUrl: false })),
    }));
    await pages.change(slug, config, list, password);
  });
  const access = input['access'] ?? 'everyone';
  const page = typeof input['slug'] === 'string' ? pages.find(input['slug']) : undefined;
  if (isApplied || page === undefined || access === 'everyone' || page.config.access !== 'everyone') return;
  await attempt(dependencies, 'status page', page.config.slug, async () => {
    await pages.change(page.config.slug, { access: 'accounts' }, undefined);
  });
}

async function provisionMonitors(dependencies: ProvisioningDependencies, desired: ProvisionedSettings['monitors']) {
  const { monitors } = dependencies;
  const find = (name: string): number[] =>
    monitors
      .all()
      .filter(({ config }) => config.name === name)
      .map(({ id }) => id)
      .slice(0, 1);
  const provisionedNames = new Set<string>();
  const groupsFirst = desired.toSorted((a, b) => Number(b['type'] === 'group') - Number(a['type'] === 'group'));
  for (const input of groupsFirst) {
    await attempt(dependencies, 'monitor', input['name'], async () => {
      const { parent, dependsOn, proxy, ...fields } = ProvisionedSchema.monitor.parse(input);
      provisionedNames.add(fields.name);
      const group = typeof parent === 'string' ? (find(parent)[0] ?? null) : (parent ?? null);
      const hosts = (dependsOn ?? []).flatMap((one) => (typeof one === 'number' ? [one] : find(one)));
      const proxyField = proxy === undefined ? {} : { proxyId: findProxyId(dependencies, proxy) };
      const config = { ...fields, ...proxyField, parent: group, dependsOn: hosts, provisioned: true };
      const [id] = find(fields.name);
      if (id === undefined) await monitors.add(MonitorConfig.parse(config));
      else if (hasChanges(monitors.get(id).config, config)) await monitors.change(id, config, { merge: true });
    });
  }
  for (const { id, config } of monitors.all()) {
    if (config['provisioned'] === true && !provisionedNames.has(config.name))
      await monitors.remove(id, { findChildren: false });
  }
  return find;
}

async function provisionProxies(
  dependencies: ProvisioningDependencies,
  desired: ProvisionedSettings['proxies'],
): Promise<void> {
  const { proxies } = dependencies;
  for (const input of desired) {
    await attempt(dependencies, 'proxy', input.name, async () => {
      const username = input['username'];
      const fields = ProxyFields.parse({
        auth: typeof username === 'string' && username !== '',
        password: null,
        ...input,
      });
      const existing = proxies.all().find(({ name }) => name === fields.name);
      if (existing === undefined || !isDeepStrictEqual(existing, { ...existing, ...fields }))
        await proxies.put(fields, existing?.id);
    });
  }
}

/** @throws Problem `uptime.unknown_proxy` (404) */
function findProxyId({ proxies }: ProvisioningDependencies, name: string | null): number | null {
  if (name === null) return null;
  const proxy = proxies.all().find((one) => one.name === name);
  if (proxy === undefined) throw new Problem('uptime.unknown_proxy', 404, m.proxyNotFound());
  return proxy.id;
}

function findPageIds({ pages }: ProvisioningDependencies, slug: string): number[] {
  const page = pages.find(slug);
  return page === undefined ? [] : [page.id];
}

/** Returns true when a monitor differs from the settings. Unchanged monitors are not restarted. */
function hasChanges(config: Readonly<Record<string, unknown>>, desired: Readonly<Record<string, unknown>>): boolean {
  const parsed: Readonly<Record<string, unknown>> = MonitorConfig.partial().parse(desired);
  return Object.keys(desired).some((name) => JSON.stringify(config[name]) !== JSON.stringify(parsed[name]));
}

/** Returns false when the entry is invalid, which is logged. */
async function attempt(
  { log }: ProvisioningDependencies,
  kind: string,
  name: unknown,
  work: () => Promise<void>,
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof Problem) && !(error instanceof z.ZodError)) throw error;
    const reason = error instanceof Problem ? error.detail : z.prettifyError(error);
    log.error('provisioning entry failed', { kind, name, reason });
    return false;
  }
}
