import { z } from 'zod';
import type { ServiceDescriptor } from '../../../services/contracts/service.ts';
import type { JsonSchema } from '../../../services/contracts/control/settings.ts';
import { HostSettings, hostEnvironment } from './host-settings.ts';
import { asSchema, holdsSecret, isRecord, placeOf, propertyOf, type SchemaPlace } from './json-schema.ts';

/** One setting, with all that is known of it before any value is. */
export interface Field {
  readonly name: string;
  /** `services.push.port` */
  readonly path: string;
  readonly title: string;
  readonly description: string;
  /** Self-contained: carries the definitions it refers to. */
  readonly schema: JsonSchema;
  readonly place: SchemaPlace;
  readonly secret: boolean;
  /** The parsed value when nothing is set. */
  readonly defaultValue: unknown;
  /** Environment names that set it; the first that is set wins. */
  readonly variables: readonly string[];
  readonly acceptsNull: boolean;
}

/** The host's settings or one service's: a group of homeport.yaml. */
export interface Section {
  readonly id: string;
  /** Where it is in homeport.yaml: `['host']` or `['services', id]`. */
  readonly path: readonly string[];
  readonly title: string;
  readonly summary: string;
  readonly schema: z.ZodObject;
  readonly jsonSchema: JsonSchema;
  readonly fields: readonly Field[];
}

const port = z.int().min(0).max(65535);

/** Names that every service has and none may declare itself. */
const reserved = ['enabled', 'port'];

/** What the host takes out of a service's section for itself. */
export const Listener = z.object({ enabled: z.boolean().default(true), port: port.default(0) });

/**
 * The host's section, then one per service in the registry's order.
 * @throws Error for a descriptor that cannot work: a taken id, a reserved field name, a variable of no field, defaults
 * that its own schema refuses. These are mistakes in the code, not in anyone's settings.
 */
export function settingsSections(descriptors: readonly ServiceDescriptor[]): readonly Section[] {
  const ids = new Set(['host']);
  for (const { id } of descriptors) {
    if (!/^[a-z][a-z0-9-]*$/.test(id)) throw new Error(`service id "${id}": use lower case letters, digits and -`);
    if (ids.has(id)) throw new Error(`service id "${id}" is taken`);
    ids.add(id);
  }
  return [hostSection(), ...descriptors.map(serviceSection)];
}

function hostSection(): Section {
  return section(
    { id: 'host', path: ['host'], title: 'Homeport', summary: 'The app itself.', schema: HostSettings },
    Object.entries(hostEnvironment),
  );
}

function serviceSection(descriptor: ServiceDescriptor): Section {
  const { id, title, summary } = descriptor;
  for (const name of reserved) {
    if (Object.hasOwn(descriptor.settings.shape, name)) throw new Error(`service "${id}": "${name}" is reserved`);
  }
  const suffix = id.toUpperCase().replaceAll('-', '_');
  // Who switched the app's own page off could not switch it on again.
  const always = descriptor.controlsHost === true;
  const variables: [string, string][] = always ? [] : [[`HOMEPORT_ENABLED_${suffix}`, 'enabled']];
  if (descriptor.port !== undefined) variables.push([`HOMEPORT_PORT_${suffix}`, 'port']);
  return section(
    {
      id,
      path: ['services', id],
      title,
      summary,
      schema: descriptor.settings.safeExtend({
        ...(always
          ? {}
          : {
              enabled: z.boolean().default(true).meta({
                title: 'Switched on',
                description: 'A service that is switched off has no listener and does no work; its data stay.',
              }),
            }),
        ...(descriptor.port === undefined
          ? {}
          : {
              port: port.default(descriptor.port).meta({
                title: 'Port',
                description: 'Where it listens on this machine (127.0.0.1 and ::1). 0 picks a free port at each start.',
              }),
            }),
      }),
    },
    [...variables, ...Object.entries(descriptor.environment)],
  );
}

function section(
  about: Omit<Section, 'jsonSchema' | 'fields'>,
  variables: readonly (readonly [name: string, field: string])[],
): Section {
  const { shape } = about.schema;
  for (const [name, field] of variables) {
    if (!Object.hasOwn(shape, field)) throw new Error(`${name} names "${field}", which "${about.id}" does not have`);
  }
  const defaults = about.schema.safeParse({});
  if (!defaults.success)
    throw new Error(`"${about.id}": the defaults do not fit the schema`, { cause: defaults.error });

  const whole: JsonSchema = z.toJSONSchema(about.schema, { io: 'input', unrepresentable: 'any' });
  const definitions = whole['$defs'] === undefined ? {} : { $defs: whole['$defs'] };
  const root = placeOf(whole);
  const names = [
    ...reserved.filter((name) => Object.hasOwn(shape, name)),
    ...Object.keys(shape).filter((name) => !reserved.includes(name)),
  ];
  const properties: Record<string, unknown> = isRecord(whole['properties']) ? whole['properties'] : {};

  const fields = names.map((name): Field => {
    const schema = asSchema(properties[name]) ?? {};
    const place = propertyOf(root, name);
    const title = place.nodes.map((node) => node['title']).find((value) => typeof value === 'string');
    const description = place.nodes.map((node) => node['description']).find((value) => typeof value === 'string');
    return {
      name,
      path: [...about.path, name].join('.'),
      title: title ?? name,
      description: description ?? '',
      schema: { ...schema, ...definitions },
      place,
      secret: holdsSecret(place),
      defaultValue: defaults.data[name],
      variables: variables.filter(([, field]) => field === name).map(([variable]) => variable),
      acceptsNull: z.safeParse(about.schema.shape[name] ?? z.never(), null).success,
    };
  });

  return {
    ...about,
    jsonSchema: { ...whole, properties: Object.fromEntries(names.map((name) => [name, properties[name]])) },
    fields,
  };
}
