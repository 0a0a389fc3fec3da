import * as m from '#messages/host-settings';
import { z } from 'zod';
import type { ListenerManifest } from '../../../services/contracts/listeners.ts';
import type { ServiceDescriptor, ServiceManifest, SettingGroup } from '../../../services/contracts/service.ts';
import type { JsonSchema } from '../../../services/contracts/control/settings.ts';
import { getEngineSpecs } from '../engines/specs.ts';
import { advancedHostSettings, hostAreas, HostSettings, hostEnvironment, path } from './host-settings.ts';
import { readText } from '../../../services/contracts/text.ts';
import { evaluateTexts } from './schema-texts.ts';
import { asSchema, containsSecret, toSchemaNode, findProperty, type SchemaNode } from './json-schema.ts';
import { toRecord } from '../../../services/contracts/is-record.ts';

/** Setting with everything known before it has a value. */
export interface Field {
  readonly name: string;
  /** `services.push.port` */
  readonly path: string;
  readonly title: string;
  readonly description: string;
  /** Self-contained: includes the definitions it refers to. */
  readonly schema: JsonSchema;
  readonly place: SchemaNode;
  readonly secret: boolean;
  /**
   * A change takes effect immediately: `.meta({ live: true })`, and fields of the host unless their description says
   * otherwise.
   */
  readonly live: boolean;
  /** An empty environment variable sets it: `.meta({ emptyIsSet: true })`. */
  readonly emptyIsSet: boolean;
  /** See `SettingsField`. */
  readonly advanced: boolean;
  readonly area: string;
  readonly group: string;
  /** Parsed default value. */
  readonly defaultValue: unknown;
  /** Environment names that set it; the first that is set wins. */
  readonly variables: readonly string[];
  readonly acceptsNull: boolean;
}

/** Settings of the host or of one service: a group of homeport.yaml. */
export interface Section {
  readonly id: string;
  /** Path in homeport.yaml: `['host']` or `['services', id]`. */
  readonly path: readonly string[];
  readonly title: string;
  readonly summary: string;
  readonly schema: z.ZodObject;
  readonly jsonSchema: JsonSchema;
  readonly fields: readonly Field[];
  /** Fields with the ports of a service's further listeners. */
  readonly furtherPorts: readonly string[];
  /** Fields of the host's section with the path of an engine, by engine. */
  readonly enginePaths: Readonly<Record<string, string>>;
  /** Fields of the host's section that belong to a service, with its id. */
  readonly owners: Readonly<Record<string, string>>;
}

const port = z.int().min(0).max(65535);

/** Names that every service has and none may declare itself. */
const reserved = ['enabled', 'port'];

/** Fields of a service's section that the host uses, in addition to the ports of further listeners. */
export const Listener = z.object({ enabled: z.boolean().default(true), port: port.default(0) });

/** Ports of a service's further listeners. */
export const FurtherPorts = z.record(z.string(), port);

/** Returns the listeners of a service with the setting of each port. */
export function portSettings({ listeners = [] }: Pick<ServiceManifest, 'listeners'>): readonly PortSetting[] {
  return listeners.map((listener, index) => ({ listener, setting: index === 0 ? 'port' : `${listener.name}Port` }));
}

interface PortSetting {
  readonly listener: ListenerManifest;
  /** `port`, `sshPort` */
  readonly setting: string;
}

/**
 * Returns the host's section, then one per service in the registry's order.
 * @throws Error for an invalid descriptor: a duplicate id, a reserved field name, a variable without field, defaults
 * that its own schema refuses. These are defects of the code, not of settings.
 */
export function settingsSections(descriptors: readonly ServiceDescriptor[]): readonly Section[] {
  const ids = new Set(['host']);
  for (const { id } of descriptors) {
    if (!/^[a-z][a-z0-9-]*$/.test(id)) throw new Error(`service id "${id}": use lower case letters, digits and -`);
    if (ids.has(id)) throw new Error(`service id "${id}" is taken`);
    ids.add(id);
  }
  const sections = [hostSection(descriptors), ...descriptors.map(serviceSection)];
  const named = new Set<string>();
  for (const variable of sections.flatMap(({ fields }) => fields.flatMap(({ variables }) => variables))) {
    if (!/^HOMEPORT_(PORT|ENABLED)_/.test(variable)) continue;
    if (named.has(variable)) throw new Error(`two services or listeners share the variable ${variable}`);
    named.add(variable);
  }
  return sections;
}

function hostSection(descriptors: readonly ServiceDescriptor[]): Section {
  const engines = getEngineSpecs(descriptors).flatMap(({ name, title, path: place }) =>
    place === undefined ? [] : [{ name, title, ...place }],
  );
  const fields = engines.map(({ setting, title, description }) => [
    setting,
    path.meta({
      label: () => m.enginePath({ engine: title }),
      help: () => m.enginePathHelp({ description: readText(description) }),
    }),
  ]);
  const sharedSchemas = descriptors.flatMap(({ id, hostSettings }) =>
    hostSettings === undefined ? [] : [{ id, ...hostSettings, shape: hostSettings.schema.shape }],
  );
  const sharedShape: z.core.$ZodLooseShape = Object.assign({}, ...sharedSchemas.map(({ shape }) => shape));
  return section(
    {
      id: 'host',
      path: ['host'],
      title: 'Homeport',
      summary: m.hostSummary(),
      schema: HostSettings.safeExtend({ ...sharedShape, ...Object.fromEntries(fields) }),
      furtherPorts: [],
      enginePaths: Object.fromEntries(engines.map(({ name, setting }) => [name, setting])),
      owners: Object.fromEntries(
        sharedSchemas.flatMap(({ id, shape }) => Object.keys(shape).map((name) => [name, id])),
      ),
    },
    [
      ...Object.entries(hostEnvironment),
      ...sharedSchemas.flatMap(({ environment }) => Object.entries(environment)),
      ...engines.map(({ setting, variable }): [string, string] => [variable, setting]),
    ],
    {
      areas: {
        ...hostAreas,
        ...Object.fromEntries(
          sharedSchemas.flatMap(({ area, shape }) => Object.keys(shape).map((name) => [name, area])),
        ),
        ...Object.fromEntries(engines.map(({ setting }) => [setting, 'engines'])),
      },
      first: [],
      isAdvanced: (name) =>
        advancedHostSettings.some((each) => each === name) || engines.some(({ setting }) => setting === name),
      groups: [],
    },
  );
}

function serviceSection(descriptor: ServiceDescriptor): Section {
  const { id, title, summary, mainSettings, settingGroups } = descriptor;
  const ports = portSettings(descriptor);
  checkNames(descriptor, ports);
  for (const name of [...reserved, ...ports.map(({ setting }) => setting)]) {
    if (Object.hasOwn(descriptor.settings.shape, name)) throw new Error(`service "${id}": "${name}" is reserved`);
  }
  const suffix = id.toUpperCase().replaceAll('-', '_');
  // The service of the app's own pages cannot be disabled, since nothing could enable it again.
  const always = descriptor.capabilities?.includes('controlHost') === true;
  const variables: [string, string][] = always ? [] : [[`HOMEPORT_ENABLED_${suffix}`, 'enabled']];
  ports.forEach(({ listener, setting }, index) => {
    variables.push([`HOMEPORT_PORT_${suffix}${index === 0 ? '' : `_${listener.name.toUpperCase()}`}`, setting]);
  });
  return section(
    {
      id,
      path: ['services', id],
      title: readText(title),
      summary: readText(summary),
      schema: descriptor.settings.safeExtend({
        ...(always
          ? {}
          : {
              enabled: z.boolean().default(true).meta({
                label: m.serviceEnabled,
                help: m.serviceEnabledHelp,
              }),
            }),
        ...Object.fromEntries(
          ports.map(({ listener, setting }, index) => [
            setting,
            port.default(listener.port).meta({
              label: () => (index === 0 ? m.port() : m.listenerPort({ listener: readText(listener.title) })),
              help: m.portHelp,
            }),
          ]),
        ),
      }),
      furtherPorts: ports.slice(1).map(({ setting }) => setting),
      enginePaths: {},
      owners: {},
    },
    [...variables, ...Object.entries(descriptor.environment)],
    {
      areas: {},
      first: mainSettings ?? [],
      isAdvanced: (name) => mainSettings?.includes(name) === false,
      groups: settingGroups ?? [],
    },
  );
}

function checkNames(
  { id, mainSettings, settingGroups, settings }: ServiceDescriptor,
  ports: readonly PortSetting[],
): void {
  const knownNames = [...reserved, ...ports.map(({ setting }) => setting), ...Object.keys(settings.shape)];
  const unknownName = mainSettings?.find((name) => !knownNames.includes(name));
  if (unknownName !== undefined) throw new Error(`service "${id}": its main setting "${unknownName}" does not exist`);
  const grouped = (settingGroups ?? []).flatMap((group) => group.settings);
  const duplicateOrUnknown = grouped.find(
    (name, index) => !knownNames.includes(name) || grouped.indexOf(name) !== index,
  );
  if (duplicateOrUnknown !== undefined)
    throw new Error(`service "${id}": "${duplicateOrUnknown}" of its groups does not exist, or is in two`);
  const names = new Set<string>();
  for (const { listener } of ports) {
    const { name } = listener;
    if (!/^[a-z][a-z0-9]*$/.test(name)) throw new Error(`listener "${id}.${name}": use lower case letters and digits`);
    if (names.has(name)) throw new Error(`listener name "${id}.${name}" is taken`);
    names.add(name);
  }
}

function section(
  about: Omit<Section, 'jsonSchema' | 'fields'>,
  variables: readonly (readonly [name: string, field: string])[],
  display: {
    readonly areas: Readonly<Record<string, string>>;
    /** Shown first, in this order. */
    readonly first: readonly string[];
    readonly isAdvanced: (name: string) => boolean;
    readonly groups: readonly SettingGroup[];
  },
): Section {
  const { shape } = about.schema;
  for (const [name, field] of variables) {
    if (!Object.hasOwn(shape, field)) throw new Error(`${name} names "${field}", which "${about.id}" does not have`);
  }
  const defaults = about.schema.safeParse({});
  if (!defaults.success)
    throw new Error(`"${about.id}": the defaults do not fit the schema`, { cause: defaults.error });

  const whole: JsonSchema = z.toJSONSchema(about.schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => evaluateTexts(jsonSchema),
  });
  const definitions = whole['$defs'] === undefined ? {} : { $defs: whole['$defs'] };
  const root = toSchemaNode(whole);
  const first = [...display.first, ...reserved, ...about.furtherPorts];
  const names = [...new Set([...first, ...Object.keys(shape)])].filter((name) => Object.hasOwn(shape, name));
  const properties: Record<string, unknown> = toRecord(whole['properties']);

  const getGroup = (name: string): string =>
    readText(display.groups.find(({ settings }) => settings.includes(name))?.heading ?? '');

  const fields = names.map((name): Field => {
    const schema = asSchema(properties[name]) ?? {};
    const place = findProperty(root, name);
    const title = place.nodes.map((node) => node['title']).find((value) => typeof value === 'string');
    const description = place.nodes.map((node) => node['description']).find((value) => typeof value === 'string');
    return {
      name,
      path: [...about.path, name].join('.'),
      title: title ?? name,
      description: description ?? '',
      schema: { ...schema, ...definitions },
      place,
      secret: containsSecret(place),
      live: place.nodes.some((node) => node['live'] === true),
      emptyIsSet: place.nodes.some((node) => node['emptyIsSet'] === true),
      advanced: display.isAdvanced(name),
      area: display.areas[name] ?? 'general',
      group: getGroup(name),
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
