import * as m from '#messages/command-line';
import { parseArgs } from 'node:util';
import { formatList } from '../../../messages/format.ts';
import type { ServiceManifest, ImportSource } from '../../../services/contracts/service.ts';
import { readText } from '../../../services/contracts/text.ts';

/** Options of every command except `help` and `version`. */
interface DataLocation {
  /** Value of `--data-dir`. */
  readonly dataDir: string | undefined;
}

/** Services whose manifests define the commands for imports and engines. */
type Services = readonly Pick<ServiceManifest, 'importSources' | 'engines'>[];

/** Store of blobs as commands name it. */
export type BlobPlace = 'local' | 's3';

/** Place of the tables as commands name it. */
export type DatabasePlace = 'sqlite' | 'postgres';

/** Parsed command line. */
export type Command =
  | (DataLocation & {
      readonly name: 'start';
      /** Without a window. */
      readonly headless: boolean;
      /** With a hidden window, as at login. */
      readonly hidden: boolean;
      /** Port of the control listener. */
      readonly port: number | undefined;
      /** Without services, to repair settings. */
      readonly safeMode: boolean;
      /** A `homeport://` link to open, passed by the operating system. */
      readonly link: URL | undefined;
    })
  | { readonly name: 'help' }
  | { readonly name: 'version' }
  /** Without a file: to standard output. */
  | (DataLocation & { readonly name: 'config export'; readonly secrets: boolean; readonly file: string | undefined })
  | (DataLocation & { readonly name: 'config import'; readonly file: string })
  /** Without a file: the one in the data folder. */
  | (DataLocation & { readonly name: 'config check'; readonly file: string | undefined })
  | (DataLocation & {
      readonly name: 'import';
      readonly program: string;
      readonly folder: string;
      /** Only reports what would be imported. */
      readonly dryRun?: boolean;
    })
  | (DataLocation & { readonly name: 'backup'; readonly file: string })
  | (DataLocation & { readonly name: 'restore'; readonly file: string; readonly force: boolean })
  | (DataLocation & { readonly name: 'engines list' })
  /** Without an engine: all missing ones that services need. */
  | (DataLocation & { readonly name: 'engines install'; readonly engine: string | undefined })
  | (DataLocation & { readonly name: 'engines remove'; readonly engine: string })
  | (DataLocation & { readonly name: 'keys replace'; readonly service: string; readonly key: string })
  | (DataLocation & { readonly name: 'blobs status' })
  | (DataLocation & {
      readonly name: 'blobs move';
      readonly from: BlobPlace;
      readonly to: BlobPlace;
      /** Only reports what would be moved. */
      readonly dryRun: boolean;
    })
  | (DataLocation & {
      readonly name: 'database move';
      readonly from: DatabasePlace;
      readonly to: DatabasePlace;
      /** Only reports what would be moved. */
      readonly dryRun: boolean;
    })
  | (DataLocation & { readonly name: 'cluster status' })
  | (DataLocation & {
      readonly name: 'accounts reset';
      readonly account: string;
      /** The link also disables the second factor. */
      readonly secondFactor: boolean;
    })
  /** `message` is one sentence for standard error. */
  | { readonly name: 'invalid'; readonly message: string; readonly exitCode: 2 };

/** Row of the help: an option or a command, and its description. */
type HelpRow = readonly [form: string, help: string];

/** Returns the text of `homeport --help`. */
export function helpText(services: Services): string {
  return `${m.summary()}

${m.usage()} homeport [options] [homeport://link]
${' '.repeat(m.usage().length)} homeport <command>

${m.optionsHeading()}
${formatRows(getOptionRows(), optionColumn)}

${m.commandsHeading()}
${formatRows(getCommandRows(services), commandColumn)}
`;
}

/** Columns of the descriptions. */
const optionColumn = 24;
const commandColumn = 37;

function formatRows(rows: readonly HelpRow[], column: number): string {
  return rows.map(([form, help]) => `${formatForm(`  ${form}`, column)}${help}`).join('\n');
}

function formatForm(form: string, column: number): string {
  return form.length < column ? form.padEnd(column) : `${form}\n${' '.repeat(column)}`;
}

function getOptionRows(): readonly HelpRow[] {
  return [
    ['--headless', m.headlessHelp()],
    ['--hidden', m.hiddenHelp()],
    ['--data-dir PATH', m.dataDirHelp()],
    ['--port N', m.portHelp()],
    ['--safe-mode', m.safeModeHelp()],
    ['--version', m.versionHelp()],
    ['--help', m.helpHelp()],
  ];
}

function getCommandRows(services: Services): readonly HelpRow[] {
  return [
    ['config export [--secrets] [FILE]', m.configExportHelp()],
    ['config import FILE', m.configImportHelp()],
    ...getImportSources(services).map(formatImportRow),
    ['config check [FILE]', m.configCheckHelp()],
    ['backup FILE', m.backupHelp()],
    ['restore FILE [--force]', m.restoreHelp()],
    ['engines list', m.enginesListHelp()],
    ['engines install [NAME]', m.enginesInstallHelp({ engines: formatList(engineNames(services)) })],
    ['engines remove NAME', m.enginesRemoveHelp()],
    ['keys replace SERVICE NAME', m.keysReplaceHelp()],
    ['blobs status', m.blobsStatusHelp()],
    ['blobs move FROM TO [--dry-run]', m.blobsMoveHelp()],
    ['database move FROM TO [--dry-run]', m.databaseMoveHelp()],
    ['cluster status', m.clusterStatusHelp()],
    ['accounts reset NAME [--second-factor]', m.accountsResetHelp()],
  ];
}

function formatImportRow({ program, from, help, dryRun }: ImportSource): HelpRow {
  return [`import ${program} ${from}${dryRun ? ' [--dry-run]' : ''}`, readText(help)];
}

function getImportSources(services: Services): readonly ImportSource[] {
  return services.flatMap(({ importSources = [] }) => importSources);
}

const options = {
  headless: { type: 'boolean' },
  hidden: { type: 'boolean' },
  'data-dir': { type: 'string' },
  port: { type: 'string' },
  'safe-mode': { type: 'boolean' },
  secrets: { type: 'boolean' },
  force: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  'second-factor': { type: 'boolean' },
  version: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Flag = keyof typeof options;
type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

interface ParsedArguments {
  readonly values: Values;
  readonly dataDir: string | undefined;
  /** Argument after the words of the command. */
  readonly first: string | undefined;
  readonly second: string | undefined;
}

/** Form of a command: its words, its arguments, and the resulting command (or the reason why it is invalid). */
interface Form {
  readonly arguments: readonly string[];
  readonly flags: readonly Flag[];
  readonly argument: 'none' | 'optional' | 'file' | 'two';
  command(parsed: ParsedArguments): Command | string;
}

function importForm({ program, dryRun }: ImportSource): Form {
  return {
    arguments: ['import', program],
    flags: dryRun ? ['dry-run'] : [],
    argument: 'file',
    command: ({ values, dataDir, first = '' }) => ({
      name: 'import',
      dataDir,
      program,
      folder: first,
      ...(dryRun ? { dryRun: values['dry-run'] === true } : {}),
    }),
  };
}

/** Without services, every name is passed on unchecked. */
function engineForms(services: Services): readonly Form[] {
  const names = engineNames(services);
  const isUnknown = (name: string): boolean => names.length > 0 && !names.includes(name);
  return [
    {
      arguments: ['engines', 'install'],
      flags: [],
      argument: 'optional',
      command: ({ dataDir, first }) =>
        first !== undefined && isUnknown(first)
          ? m.engineUnknown({ engine: first, engines: formatList(names) })
          : { name: 'engines install', dataDir, engine: first },
    },
    {
      arguments: ['engines', 'remove'],
      flags: [],
      argument: 'optional',
      command({ dataDir, first }) {
        if (first === undefined) return m.engineMissing({ engines: formatList(names, 'disjunction') });
        if (isUnknown(first)) return m.engineUnknown({ engine: first, engines: formatList(names) });
        return { name: 'engines remove', dataDir, engine: first };
      },
    },
  ];
}

function engineNames(services: Services): readonly string[] {
  return services.flatMap(({ engines = [] }) => engines.map(({ name }) => name));
}

const forms: readonly Form[] = [
  {
    arguments: ['config', 'export'],
    flags: ['secrets'],
    argument: 'optional',
    command: ({ values, dataDir, first }) => ({
      name: 'config export',
      dataDir,
      secrets: values.secrets === true,
      file: first,
    }),
  },
  {
    arguments: ['config', 'import'],
    flags: [],
    argument: 'file',
    command: ({ dataDir, first = '' }) => ({ name: 'config import', dataDir, file: first }),
  },
  {
    arguments: ['config', 'check'],
    flags: [],
    argument: 'optional',
    command: ({ dataDir, first }) => ({ name: 'config check', dataDir, file: first }),
  },
  {
    arguments: ['backup'],
    flags: [],
    argument: 'file',
    command: ({ dataDir, first = '' }) => ({ name: 'backup', dataDir, file: first }),
  },
  {
    arguments: ['restore'],
    flags: ['force'],
    argument: 'file',
    command: ({ values, dataDir, first = '' }) => ({
      name: 'restore',
      dataDir,
      file: first,
      force: values.force === true,
    }),
  },
  {
    arguments: ['engines', 'list'],
    flags: [],
    argument: 'none',
    command: ({ dataDir }) => ({ name: 'engines list', dataDir }),
  },
  {
    arguments: ['keys', 'replace'],
    flags: [],
    argument: 'two',
    command: ({ dataDir, first = '', second = '' }) =>
      first === '' || second === '' ? m.keyMissing() : { name: 'keys replace', dataDir, service: first, key: second },
  },
  {
    arguments: ['blobs', 'status'],
    flags: [],
    argument: 'none',
    command: ({ dataDir }) => ({ name: 'blobs status', dataDir }),
  },
  {
    arguments: ['blobs', 'move'],
    flags: ['dry-run'],
    argument: 'two',
    command({ values, dataDir, first, second }) {
      const isLocalToS3 = first === 'local' && second === 's3';
      if (!isLocalToS3 && !(first === 's3' && second === 'local')) return m.blobsPlacesInvalid();
      return { name: 'blobs move', dataDir, from: first, to: second, dryRun: values['dry-run'] === true };
    },
  },
  {
    arguments: ['database', 'move'],
    flags: ['dry-run'],
    argument: 'two',
    command({ values, dataDir, first, second }) {
      const isToPostgres = first === 'sqlite' && second === 'postgres';
      if (!isToPostgres && !(first === 'postgres' && second === 'sqlite')) return m.databasePlacesInvalid();
      return { name: 'database move', dataDir, from: first, to: second, dryRun: values['dry-run'] === true };
    },
  },
  {
    arguments: ['cluster', 'status'],
    flags: [],
    argument: 'none',
    command: ({ dataDir }) => ({ name: 'cluster status', dataDir }),
  },
  {
    arguments: ['accounts', 'reset'],
    flags: ['second-factor'],
    argument: 'optional',
    command: ({ values, dataDir, first = '' }) =>
      first === ''
        ? m.accountNameMissing()
        : { name: 'accounts reset', dataDir, account: first, secondFactor: values['second-factor'] === true },
  },
  {
    arguments: [],
    flags: ['headless', 'hidden', 'port', 'safe-mode'],
    argument: 'optional',
    command: start,
  },
];

/** Longer links are refused; no page needs one. */
const maxLinkLength = 2048;

/**
 * Parses the arguments after the program's name. Never throws: unknown arguments result in an `invalid` command.
 * Without services, imports of other programs' data are invalid.
 */
export function parseCommandLine(argv: readonly string[], services: Services = []): Command {
  const read = readArguments(argv);
  if (typeof read === 'string') return invalid(read);
  const { values, positionals } = read;
  if (values.help === true) return { name: 'help' };
  if (values.version === true) return { name: 'version' };

  const all = [...getImportSources(services).map(importForm), ...engineForms(services), ...forms];
  const form = all.find(({ arguments: commandWords }) =>
    commandWords.every((word, index) => positionals[index] === word),
  );
  const dataDir = values['data-dir'];
  if (form === undefined) return invalid(m.unknownCommand());
  if (dataDir === '') return invalid(m.dataDirMissing());

  const name = ['homeport', ...form.arguments].join(' ');
  const stray = Object.keys(values).find(
    (flag) => flag !== 'data-dir' && !form.flags.some((allowed) => allowed === flag),
  );
  if (stray !== undefined) return invalid(m.optionNotAllowed({ command: name, option: stray }));
  const [first, ...others] = positionals.slice(form.arguments.length);
  const [second] = others;
  const extra = form.argument === 'none' ? first : form.argument === 'two' ? others[1] : second;
  if (extra !== undefined) return invalid(m.argumentNotAllowed({ command: name, argument: extra }));
  if (form.argument === 'file' && (first === undefined || first === ''))
    return invalid(m.fileMissing({ command: name }));

  const command = form.command({ values, dataDir, first, second });
  return typeof command === 'string' ? invalid(command) : command;
}

function start({ values, dataDir: folder, first }: ParsedArguments): Command | string {
  if (first !== undefined && !/^homeport:\/\//i.test(first)) return m.unknownCommandName({ command: first });
  const link = first === undefined || first.length > maxLinkLength ? null : URL.parse(first);
  if (first !== undefined && link === null) return m.linkInvalid();
  const port = values.port === undefined ? undefined : Number(values.port);
  if (values.port !== undefined && !/^\d{1,5}$/.test(values.port)) return m.portInvalid();
  if (port !== undefined && port > 65535) return m.portInvalid();
  return {
    name: 'start',
    dataDir: folder,
    headless: values.headless === true,
    hidden: values.hidden === true,
    port,
    safeMode: values['safe-mode'] === true,
    link: link ?? undefined,
  };
}

function readArguments(argv: readonly string[]): { values: Values; positionals: string[] } | string {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
    return { values, positionals };
  } catch (error) {
    if (error instanceof TypeError && 'code' in error) return explainArgument(error.code, argv);
    throw error;
  }
}

/** Returns the reason why Node's parser refused the arguments. */
function explainArgument(code: unknown, argv: readonly string[]): string {
  const isKnown = (name: string): name is Flag => Object.hasOwn(options, name);
  const flags = argv.filter((argument) => argument.startsWith('-')).map((argument) => argument.split('=', 2));
  for (const [flag = '', value] of flags) {
    const name = flag === '-h' ? 'help' : flag.slice(2);
    if (!flag.startsWith('--') && flag !== '-h') return m.unknownOption({ option: flag });
    if (!isKnown(name)) return m.unknownOption({ option: flag });
    if (options[name].type === 'boolean' && value !== undefined) return m.optionTakesNoValue({ option: flag });
  }
  const [last = ''] = flags.findLast(([flag = '']) => ['--data-dir', '--port'].includes(flag)) ?? [];
  return code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE' ? m.optionNeedsValue({ option: last }) : m.unknownCommand();
}

function invalid(reason: string): Command {
  return { name: 'invalid', message: m.invalid({ reason }), exitCode: 2 };
}
