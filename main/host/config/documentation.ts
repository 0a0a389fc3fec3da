import type { ServiceDescriptor } from '../../../services/contracts/service.ts';
import { findElement, getTypes, type SchemaNode } from './json-schema.ts';
import { settingsSections, type Field, type Section } from './sections.ts';

/** Variables that are not settings: they are read before the settings, or only once. */
const variables: readonly (readonly [name: string, description: string])[] = [
  ['HOMEPORT_DATA_DIR', 'Data folder. `--data-dir` overrides it.'],
  [
    'HOMEPORT_CONFIG',
    'A `homeport.yaml` or an export that is applied at startup: its fields override those in the data ' +
      'folder and are saved. It is applied again only when its content has changed, so later changes in ' +
      'the app are kept. Homeport does not start if the file is invalid.',
  ],
  ['HOMEPORT_ADMIN_USER', 'Name of the administrator account that is created on first start.'],
  ['HOMEPORT_ADMIN_PASSWORD', 'Password for that account, with at least 8 characters.'],
  ['HOMEPORT_ADMIN_PASSWORD_FILE', 'File that contains that password, such as a container secret.'],
  [
    'HOMEPORT_DATABASE_URL_FILE',
    'File that contains the address in `HOMEPORT_DATABASE_URL`, such as a container secret.',
  ],
  [
    'HOMEPORT_VAULT_KEY',
    'Vault key: 32 bytes in base64, as in the file `vault.key`. Hosts that share a database need the same key. ' +
      'If it is set, no key is stored in the data folder.',
  ],
  ['HOMEPORT_VAULT_KEY_FILE', 'File that contains that key, such as a container secret.'],
  [
    'HOMEPORT_VAULT_KEY_COMMAND',
    'Command that prints that key, such as a client for a key management service. It runs without a shell and has ' +
      'a time limit of 30 seconds.',
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
2. \`homeport.yaml\` in the data folder, which the Settings page writes. Edit it while Homeport is stopped, or, after
   editing it, change a setting in the app so that the file is read,
3. the environment,
4. the command line.

The app shows a setting from the environment or the command line with the name of its variable, and you cannot change it there.

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
\`homeport.yaml.v0\` (with its version). An invalid value is reported with its field, and only its service is stopped
until you correct the value: in the settings, or in the file, followed by a restart of the service. An invalid value in
the group \`host\`, or a file that does not contain settings, starts Homeport in safe mode with only its pages. A file
that cannot be read is kept as \`homeport.yaml.bad\` before it is overwritten. \`homeport config check\` validates the
file without starting Homeport.

You can write a secret in plain text. The next start or settings change encrypts it with this installation’s key,
in the file and in its previous versions (\`password: { sealed: v1.… }\`). To change a secret, replace it with
the new one. An encrypted secret is valid only for its own setting.
A secret that is shared by an \`&anchor\` is not encrypted, and neither are secrets in files that cannot be read. Only the
owner can read the file. \`homeport config export\` encrypts secrets as well; \`--secrets\` writes them in plain text.

In the environment, write numbers and text without quotes, true and false also as yes/no, on/off or 1/0, lists separated by
commas, and groups of fields as JSON. An empty variable counts as not set, unless the field documents the meaning of an
empty variable.

Quiet hours are lines with days and times. Days can be individual days or ranges: \`mon-fri 22:00-07:00\`, \`sat sun 23:00-09:00\`, or
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
    `${summary} In \`homeport.yaml\`, these settings are under \`${path.join('.')}\`.`,
    formatTable(['Field', 'Type', 'Default', 'Environment', 'Meaning'], rows),
  ].join('\n\n');
}

function formatMeaning({ title, description, schema, secret, live, emptyIsSet }: Section['fields'][number]): string {
  const example = schema['example'];
  return [
    `**${title}.** ${description}`,
    ...(typeof example === 'string' ? [`Example: ${example}.`] : []),
    ...(secret ? ['Secret.'] : []),
    ...(live ? ['Takes effect immediately.'] : []),
    ...(emptyIsSet ? ['If the variable is empty, the field is set to empty.'] : []),
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
    'These variables set the following fields:',
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
      names.push(
        `list of ${typeName(findElement(schemaNode, 0)).replace(/^(group|(?:whole )?number)\b/, '$1s') || 'values'}`,
      );
    else if (type === 'integer' || type === 'number')
      names.push(`${typeNames[type] ?? type}${getUnit(schemaNode)}${formatRange(schemaNode)}`);
    else names.push(typeNames[type] ?? type);
  }
  return names.join(' or ');
}

const unitLabels: ReadonlyMap<string, string> = new Map([['ms', 'milliseconds']]);

function getUnit(schemaNode: SchemaNode): string {
  const unit = schemaNode.nodes.map((node) => node['unit']).find((each) => typeof each === 'string');
  if (unit === undefined) return '';
  return unit === '%' ? ' (percent)' : ` of ${unitLabels.get(unit) ?? unit}`;
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
