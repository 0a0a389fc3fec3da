import { readValues, unquoted, type Literal } from './literal.ts';
import { isRecord, placesOf, putAt, readPath, ScriptError, valueAt, type Place, type Step } from './path.ts';

const mostLines = 500;
const pathForm = /^((?:[^\s='"[\]]|\[(?:[^\]"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*\])+)\s*/;

interface Instruction {
  readonly verb: string;
  readonly steps: readonly Step[];
  readonly values: readonly Literal[];
}

/** Limits the work of all scripts of one request, including scripts that use each other. */
export class ScriptBudget {
  #instructions = 2000;
  #writes = 20_000;
  #looks = 1_000_000;

  /** @throws ScriptError */
  instruction(): void {
    if ((this.#instructions -= 1) < 0) throw new ScriptError('It comes to too many instructions.');
  }

  /**
   * Counts written values; long texts count several times. Values are counted even when no location matches.
   *
   * @throws ScriptError
   */
  write(places: number, values: readonly Literal[]): void {
    if ((this.#writes -= Math.max(1, places) * sizeOf(values)) < 0) throw new ScriptError('It writes too much.');
  }

  /**
   * Counts searched list items.
   *
   * @throws ScriptError
   */
  look(items: number): void {
    if ((this.#looks -= items) < 0) throw new ScriptError('It looks through too much.');
  }
}

/**
 * Runs a script, which modifies the configuration.
 *
 * @param variant Returns the script of another variant.
 * @throws ScriptError
 */
export function runScript(
  config: Record<string, unknown>,
  script: string,
  variant: (id: string) => string,
  budget: ScriptBudget,
  depth = 0,
): void {
  if (depth > 5) throw new ScriptError('Variants use each other without an end.');
  for (const line of linesOf(script)) {
    budget.instruction();
    const used = /^use\s+variant\s+(\S+)$/.exec(line)?.[1];
    if (used !== undefined) runScript(config, variant(unquoted(used)), variant, budget, depth + 1);
    else carryOut(config, readLine(line), budget);
  }
}

/**
 * Splits a script into instructions. Lists and objects may span several lines, and # begins a comment outside of texts.
 *
 * @throws ScriptError
 */
export function linesOf(script: string): readonly string[] {
  const lines: string[] = [];
  let [line, open, quote] = ['', 0, ''];
  for (let at = 0; at <= script.length; at += 1) {
    const letter = script[at] ?? '\n';
    if (quote !== '') {
      if (letter === '\\') line += letter + (script[(at += 1)] ?? '');
      else line += letter;
      if (letter === quote || at >= script.length) quote = '';
    } else if (letter === '#') {
      while (at + 1 < script.length && script[at + 1] !== '\n') at += 1;
    } else if (letter === '\n' && open <= 0) {
      if (line.trim() !== '') lines.push(line.trim());
      line = '';
    } else {
      if (letter === '"' || letter === "'") quote = letter;
      if ('[{'.includes(letter)) open += 1;
      if (']}'.includes(letter)) open -= 1;
      line += letter;
    }
    if (lines.length > mostLines) throw new ScriptError('The script is too long.');
  }
  if (line.trim() !== '') lines.push(line.trim());
  return lines;
}

function readLine(line: string): Instruction {
  const [, verb = '', rest = ''] = /^(\w+)\s*([\s\S]*)$/.exec(line) ?? [];
  if (!Object.hasOwn(verbs, verb)) throw new ScriptError(`${JSON.stringify(line.slice(0, 40))} is no instruction.`);
  const path = pathForm.exec(rest);
  if (path?.[1] === undefined) throw new ScriptError(`${verb} needs a path.`);
  const given = rest.slice(path[0].length).replace(/^=\s*/, '');
  return { verb, steps: readPath(path[1], unquoted), values: given === '' ? [] : readValues(given) };
}

const verbs: Readonly<Record<string, (place: Place, values: readonly Literal[]) => void>> = {
  set: (place, [value]) => putAt(place, needed(value)),
  merge: (place, [value]) => putAt(place, merged(valueAt(place), needed(value))),
  clear: (place) => {
    const value = valueAt(place);
    if (Array.isArray(value)) putAt(place, []);
    else if (isRecord(value)) putAt(place, {});
  },
  add: (place, values) => putAt(place, [...listAt(place), ...news(place, values)]),
  prepend: (place, values) => putAt(place, [...news(place, values), ...listAt(place)]),
  remove: (place, values) => {
    const gone = new Set(values.map((value) => JSON.stringify(value)));
    putAt(
      place,
      listAt(place).filter((item) => !gone.has(JSON.stringify(item))),
    );
  },
  unset: () => undefined,
  enable: (place) => switchAt(place, true),
  disable: (place) => switchAt(place, false),
};
const making = new Set(['set', 'merge', 'add', 'prepend']);
const listing = new Set(['add', 'prepend', 'remove']);

function carryOut(config: Record<string, unknown>, { verb, steps, values }: Instruction, budget: ScriptBudget): void {
  const places = placesOf(config, steps, making.has(verb), (items) => budget.look(items));
  budget.write(places.length, values);
  if (verb === 'unset' || (verb === 'remove' && values.length === 0)) return removeAll(places);
  for (const place of places) {
    if (listing.has(verb)) budget.look(listAt(place).length);
    verbs[verb]?.(place, structuredClone(values));
  }
}

function sizeOf(value: Literal): number {
  if (typeof value === 'string') return 1 + Math.floor(value.length / 100);
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((size, inner: Literal) => size + sizeOf(inner), 1);
}

/** Removes the last locations first, so that the indexes of the others stay valid. */
function removeAll(places: readonly Place[]): void {
  for (const { holder, at } of places.toReversed()) {
    if (Array.isArray(holder)) holder.splice(Number(at), 1);
    else delete holder[at];
  }
}

function switchAt(place: Place, enabled: boolean): void {
  const value = valueAt(place);
  if (isRecord(value)) value['enabled'] = enabled;
  else if (value === undefined) putAt(place, { enabled });
}

function needed(value: Literal | undefined): Literal {
  if (value === undefined) throw new ScriptError('An instruction has no value.');
  return value;
}

function listAt(place: Place): readonly unknown[] {
  const value = valueAt(place);
  return Array.isArray(value) ? value : [];
}

function news(place: Place, values: readonly Literal[]): readonly Literal[] {
  const known = new Set(listAt(place).map((item) => JSON.stringify(item)));
  return values.filter((value) => !known.has(JSON.stringify(value)));
}

function merged(before: unknown, change: unknown): unknown {
  if (!isRecord(change)) return change;
  const result: Record<string, unknown> = isRecord(before) ? { ...before } : {};
  for (const [name, value] of Object.entries(change)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}
