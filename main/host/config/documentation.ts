import type { ServiceDescriptor } from '../../../services/contracts/service.ts';
import { findElement, getTypes, type SchemaNode } from './json-schema.ts';
import { settingsSections, type Field, type Section } from './sections.ts';

/** Variables that are not settings: they are read before the settings, or only once. */
const variables: readonly (readonly [name: string, description: string])[] = [
  ['HOMEPORT_DATA_DIR', 'Data folder. `--data-dir` overrides it.'],
  [
    'HOMEPORT_CONFIG',
    'A `homeport.yaml` or an export that is applied at startup: its fields override those of the data ' +
      'folder and are saved. It is applied again only when its content has changed, so later changes in ' +
      'the app are kept. Homeport does not start if the file is invalid.',
  ],
  ['HOMEPORT_ADMIN_USER', 'Name of the administrator account that is created at the first start.'],
  ['HOMEPORT_ADMIN_PASSWORD', 'Password of that account, with at least 8 characters.'],
  [
    'HOMEPORT_VAULT_KEY',
    'Key of the vault: 32 bytes in base64, as in the file `vault.key`. Hosts on one database need the same key. ' +
      'With it, no key is stored in the data folder.',
  ],
  ['HOMEPORT_VAULT_KEY_FILE', 'File that contains that key, such as a secret of a container.'],
  [
    'HOMEPORT_VAULT_KEY_COMMAND',
    'Command that prints that key, such as a client of a key management service. It runs without a shell and has ' +
      '30 seconds.',
  ],
];

/** Returns the text of docs/configuration.md. */
export function buildConfigurationPage(descriptors: readonly ServiceDescriptor[], helpText: string): string {
  const sections = settingsSections(descriptors);
  return (
    [
      '# Configuration',
      '<!-- Written by `npm run docs` from the settings schemas. Change those, not this page. -->',
      introduction,
      ...sections.map(sectionPart),
      environmentPart(sections),
      '## Command line',
      ['```', helpText.trimEnd(), '```'].join('\n'),
      '',
    ]
      .join('\n\n')
      .trimEnd() + '\n'
  );
}

const introduction = `Every setting has a default, so Homeport runs without any configuration. Later sources override earlier ones:

1. the default,
2. \`homeport.yaml\` in the data folder, which the Settings page writes. Edit it while Homeport is stopped, or change a
   setting in the app afterwards so that the file is read,
3. the environment,
4. the command line.

A setting from the environment or the command line is shown in the app with the name of its variable and cannot be changed there.

\`\`\`yaml
version: 1
host:
  logLevel: info
services:
  push:
    enabled: true
    port: 2586
\`\`\`

Comments and unknown fields are kept. Each save is atomic, and the three previous versions are kept as
\`homeport.yaml.1\` (the newest) to \`.3\`. A file in an older format is migrated at startup and kept as
\`homeport.yaml.v0\` (with its version). An invalid value is reported with its field, and only its service does not run
until the value is corrected: in the settings, or in the file followed by a restart of the service. An invalid value in
the group \`host\`, or a file that does not contain settings, starts Homeport in safe mode with only its pages. A file
that cannot be read is kept as \`homeport.yaml.bad\` before it is overwritten. \`homeport config check\` validates the
file without starting Homeport.

You can write a secret in plain text. The next start or change of settings encrypts it with the key of this
installation, in the file and in its previous versions (\`password: { sealed: v1.… }\`). To change a secret, replace it with
the new one. An encrypted secret is only valid for its setting.
A secret that is shared by an \`&anchor\` is not encrypted, and neither are secrets in files that cannot be read. Only the
owner can read the file. \`homeport config export\` encrypts secrets as well; \`--secrets\` writes them in plain text.

In the environment, write numbers and text unquoted; true/false also as yes/no, on/off, 1/0; lists separated by
commas; groups of fields as JSON. An empty variable counts as not set, unless the field documents the meaning of an
empty variable.

Quiet hours are lines of days and times, with single days or ranges: \`mon-fri 22:00-07:00\`, \`sat sun 23:00-09:00\`, or
\`22:00-07:00\` for every day.`;

function sectionPart({ id, path, title, summary, fields }: Section): string {
  const rows = fields.map((field) => [
    `\`${field.name}\``,
    typeName(field.place),
    defaultText(field),
    field.variables.map((name) => `\`${name}\``).join(', '),
    formatMeaning(field),
  ]);
  const heading = id === 'host' ? `## ${title}` : `## ${title} (\`${id}\`)`;
  return [
    heading,
    `${summary} In \`homeport.yaml\` under \`${path.join('.')}\`.`,
    formatTable(['Field', 'Type', 'Default', 'Environment', 'Meaning'], rows),
  ].join('\n\n');
}

function formatMeaning({ title, description, schema, secret, live, emptyIsSet }: Section['fields'][number]): string {
  const example = schema['example'];
  return [
    `**${title}.** ${description}`,
    ...(typeof example === 'string' ? [`Such as ${example}.`] : []),
    ...(secret ? ['Secret.'] : []),
    ...(live ? ['Takes effect immediately.'] : []),
    ...(emptyIsSet ? ['An empty variable sets it to empty.'] : []),
  ].join(' ');
}

function environmentPart(sections: readonly Section[]): string {
  const settings = sections
    .flatMap(({ fields }) => fields)
    .flatMap((field) => field.variables.map((name): [string, string] => [`\`${name}\``, `\`${field.path}\``]))
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return [
    '## Environment variables',
    formatTable(
      ['Variable', 'Meaning'],
      variables.map(([name, description]) => [`\`${name}\``, description]),
    ),
    'These variables set fields:',
    formatTable(['Variable', 'Field'], settings),
  ].join('\n\n');
}

function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function defaultText({ defaultValue, secret }: Field): string {
  if (defaultValue === undefined || defaultValue === '' || (secret && typeof defaultValue === 'string')) return '–';
  return `\`${JSON.stringify(defaultValue)}\``;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'number',
  integer: 'whole number',
  boolean: 'true or false',
  object: 'group of fields',
  null: 'nothing',
};

function typeName(schemaNode: SchemaNode): string {
  const choices = schemaNode.nodes.flatMap((node): unknown[] => [
    ...(Array.isArray(node['enum']) ? node['enum'] : []),
    ...(Object.hasOwn(node, 'const') ? [node['const']] : []),
  ]);
  // An empty choice means "none" and needs no row.
  const choiceLabels = Object.assign({}, ...schemaNode.nodes.map((node) => node['choices'] ?? {})) as Record<
    string,
    string
  >;
  const names = choices
    .filter((choice) => choice !== '')
    .map(
      (choice) =>
        `\`${String(choice)}\`${Object.hasOwn(choiceLabels, String(choice)) ? ` (${choiceLabels[String(choice)] ?? ''})` : ''}`,
    );
  const isChoiceOnly =
    choices.length > 0 &&
    !schemaNode.nodes.some((node) => node['type'] === 'string' && !('enum' in node) && !('const' in node));
  for (const type of getTypes(schemaNode)) {
    if (type === 'string' && isChoiceOnly) continue;
    if (type === 'array')
      names.push(`list of ${typeName(findElement(schemaNode, 0)).replace('group', 'groups') || 'values'}`);
    else if (type === 'integer' || type === 'number')
      names.push(`${typeNames[type] ?? type}${getUnit(schemaNode)}${formatRange(schemaNode)}`);
    else names.push(typeNames[type] ?? type);
  }
  return names.join(' or ');
}

const unitLabels: ReadonlyMap<string, string> = new Map([
  ['ms', 'milliseconds'],
  ['%', 'per cent'],
]);

function getUnit(schemaNode: SchemaNode): string {
  const unit = schemaNode.nodes.map((node) => node['unit']).find((each) => typeof each === 'string');
  return unit === undefined ? '' : ` of ${unitLabels.get(unit) ?? unit}`;
}

/** Formats the bounds of the schema, except for the safe integer bounds that zod adds. */
function formatRange(schemaNode: SchemaNode): string {
  const bound = (key: string): number | undefined =>
    schemaNode.nodes
      .map((node) => node[key])
      .find((value): value is number => typeof value === 'number' && Math.abs(value) !== Number.MAX_SAFE_INTEGER);
  const minimum = bound('minimum');
  const maximum = bound('maximum');
  if (minimum !== undefined && maximum !== undefined) return `, ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `, ${minimum} or more`;
  return maximum === undefined ? '' : `, ${maximum} or less`;
}
