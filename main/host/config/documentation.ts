import type { ServiceDescriptor } from '../../../services/contracts/service.ts';
import { findElement, getTypes, type SchemaNode } from './json-schema.ts';
import { settingsSections, type Field, type Section } from './sections.ts';

/** Variables that are not settings: they are read before the settings, or only once. */
const variables: readonly (readonly [name: string, description: string])[] = [
  ['HOMEPORT_DATA_DIR', 'The data folder; `--data-dir` wins over it.'],
  [
    'HOMEPORT_CONFIG',
    'A `homeport.yaml` or an export that is applied at start: its fields are laid over those of the data folder ' +
      'and saved. It is applied again only when its content has changed, so that later changes in the app stay. A ' +
      'bad one stops the start.',
  ],
  ['HOMEPORT_ADMIN_USER', 'Name of the administrator that is made at the first start.'],
  ['HOMEPORT_ADMIN_PASSWORD', 'Password of that administrator, of at least 8 characters.'],
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

const introduction = `Every setting has a default, so Homeport runs without any of this. What is set comes, lowest to highest, from

1. the default,
2. \`homeport.yaml\` in the data folder, which is what the Settings page writes; edit it while Homeport is stopped, or
   make a change in the app afterwards to have it read,
3. the environment,
4. the command line.

A setting that comes from the environment or the command line is shown in the app with the name of its variable and cannot be changed there.

\`\`\`yaml
version: 1
host:
  logLevel: info
services:
  push:
    enabled: true
    port: 2586
\`\`\`

Comments and names that Homeport does not know are kept. Each save is atomic, and the three versions before it stay as
\`homeport.yaml.1\` (the newest) to \`.3\`. A file of an older version is
brought up to date at the start and kept as \`homeport.yaml.v0\` (its version). A value that does not fit is reported
with its field, and its service alone does not run until it is corrected: in the
settings, or in the file and by a restart of the service. One in the group \`host\`, or a file that cannot be read as
settings, starts Homeport in safe mode, with its pages alone; a file
that cannot be read at all is kept as \`homeport.yaml.bad\` before anything is written over it. \`homeport config
check\` tells what is wrong without a start.

A secret may be typed as it is. The next start or change of settings seals it, in the file and in the copies beside
it, with the key of this installation (\`password: { sealed: v1.… }\`); type a new one over it to change it. A sealed
one counts for its setting alone.
A secret that is shared by an \`&anchor\` stays as it is, and so do files that cannot be read. The file is readable by
its owner only. \`homeport config export\` seals secrets as well; \`--secrets\` writes them in plain text.

In the environment, numbers and text are written as they are; true/false also as yes/no, on/off, 1/0; lists with
commas; groups of fields as JSON. An empty variable counts as not set, except for a field that says what an empty
variable means.

Quiet hours are lines of days and times, each day by itself or from one to another: \`mon-fri 22:00-07:00\`, \`sat sun
23:00-09:00\`, or \`22:00-07:00\` for every day.`;

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
    ...(live ? ['Takes effect at once.'] : []),
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
    'These set the field beside them:',
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
