import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { HostSettings } from './host-settings.ts';
import type { Resolved, ResolvedSection } from './layers.ts';
import { Listener, type Section } from './sections.ts';

/** One service's settings as the host uses them. */
export interface ServiceSettings {
  readonly enabled: boolean;
  /** 0: any free port, or no listener at all where the service has none. */
  readonly port: number;
  /** What the service's own `create` gets. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** All settings in effect: parsed and frozen. */
export interface Settings {
  readonly host: Readonly<HostSettings>;
  readonly services: Readonly<Record<string, ServiceSettings>>;
}

/** What a change did to the settings in effect. */
export interface Change {
  /** Field paths, e.g. `services.push.port`. */
  readonly changed: readonly string[];
  /** The sections those are in: `host` or a service's id. */
  readonly sections: readonly string[];
}

export function settingsOf(resolved: Resolved): Settings {
  const services: [string, ServiceSettings][] = [];
  let host: HostSettings | undefined;
  for (const { section, values } of resolved.sections.values()) {
    if (section.id === 'host') host = HostSettings.parse(values);
    else {
      const { enabled, port, ...settings } = values;
      const listener = Listener.parse({ enabled, port });
      services.push([section.id, { enabled: listener.enabled, port: listener.port, settings }]);
    }
  }
  return freeze({ host: host ?? HostSettings.parse({}), services: Object.fromEntries(services) });
}

/** Which fields differ between two states of the settings. */
export function compare(before: Resolved, after: Resolved): Change {
  const changed: string[] = [];
  const sections: string[] = [];
  for (const [id, { section, values }] of after.sections) {
    const old = before.sections.get(id)?.values ?? {};
    const paths = section.fields
      .filter(({ name }) => !isDeepStrictEqual(old[name], values[name]))
      .map(({ path }) => path);
    changed.push(...paths);
    if (paths.length > 0) sections.push(id);
  }
  return { changed, sections };
}

/** The value as it would be written: what was given, completed where parsing only filled in defaults. */
export function writtenValue({ section, given, values }: ResolvedSection, name: string): unknown {
  const parsed = values[name];
  if (!Object.hasOwn(given, name)) return parsed;
  return isFixedPoint(section, name, parsed) ? parsed : given[name];
}

/** False where the schema turns text into something else, such as a duration into a number. */
function isFixedPoint(section: Section, name: string, value: unknown): boolean {
  const again = z.safeParse(section.schema.shape[name] ?? z.never(), value);
  return again.success && isDeepStrictEqual(again.data, value);
}

function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  const plain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!plain) return value;
  for (const each of Object.values(value)) freeze(each);
  return Object.freeze(value);
}
