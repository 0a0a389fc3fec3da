import * as m from '#messages/addons-problems';
import { parseValues, unquote, type Literal } from './literal.ts';
import { resolveLocations, setValue, parsePath, ScriptError, getValue, type Location, type Step } from './path.ts';
import { isRecord } from '../../../contracts/is-record.ts';

const maxInstructions = 500;
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
  #searchedItems = 1_000_000;

  /** @throws ScriptError */
  countInstruction(): void {
    if ((this.#instructions -= 1) < 0) throw new ScriptError(m.tooManyInstructions);
  }

  /**
   * Counts written values; long texts count several times. Values are counted even when no location matches.
   *
   * @throws ScriptError
   */
  countWrites(locationCount: number, values: readonly Literal[]): void {
    if ((this.#writes -= Math.max(1, locationCount) * getSize(values)) < 0) throw new ScriptError(m.tooManyWrites);
  }

  /**
   * Counts searched list items.
   *
   * @throws ScriptError
   */
  countSearchedItems(items: number): void {
    if ((this.#searchedItems -= items) < 0) throw new ScriptError(m.tooManySearches);
  }
}

/**
 * Runs a script, which modifies the configuration.
 *
 * @param findScript Returns the script of another variant.
 * @throws ScriptError
 */
export function runScript(
  config: Record<string, unknown>,
  script: string,
  findScript: (id: string) => string,
  budget: ScriptBudget,
  depth = 0,
): void {
  if (depth > 5) throw new ScriptError(m.variantsCircular);
  for (const line of splitInstructions(script)) {
    budget.countInstruction();
    const usedVariant = /^use\s+variant\s+(\S+)$/.exec(line)?.[1];
    if (usedVariant !== undefined) runScript(config, findScript(unquote(usedVariant)), findScript, budget, depth + 1);
    else runInstruction(config, parseInstruction(line), budget);
  }
}

/**
 * Splits a script into instructions. Lists and objects may span several lines, and # begins a comment outside of texts.
 *
 * @throws ScriptError
 */
export function splitInstructions(script: string): readonly string[] {
  const lines: string[] = [];
  let [line, openBrackets, quote] = ['', 0, ''];
  for (let index = 0; index <= script.length; index += 1) {
    const letter = script[index] ?? '\n';
    if (quote !== '') {
      if (letter === '\\') line += letter + (script[(index += 1)] ?? '');
      else line += letter;
      if (letter === quote || index >= script.length) quote = '';
    } else if (letter === '#') {
      while (index + 1 < script.length && script[index + 1] !== '\n') index += 1;
    } else if (letter === '\n' && openBrackets <= 0) {
      if (line.trim() !== '') lines.push(line.trim());
      line = '';
    } else {
      if (letter === '"' || letter === "'") quote = letter;
      if ('[{'.includes(letter)) openBrackets += 1;
      if (']}'.includes(letter)) openBrackets -= 1;
      line += letter;
    }
    if (lines.length > maxInstructions) throw new ScriptError(m.scriptTooLong);
  }
  if (line.trim() !== '') lines.push(line.trim());
  return lines;
}

function parseInstruction(line: string): Instruction {
  const [, verb = '', rest = ''] = /^(\w+)\s*([\s\S]*)$/.exec(line) ?? [];
  if (!Object.hasOwn(verbs, verb)) throw new ScriptError(() => m.instructionInvalid({ text: line.slice(0, 40) }));
  const path = pathForm.exec(rest);
  if (path?.[1] === undefined) throw new ScriptError(() => m.pathRequired({ verb }));
  const valueText = rest.slice(path[0].length).replace(/^=\s*/, '');
  return { verb, steps: parsePath(path[1], unquote), values: valueText === '' ? [] : parseValues(valueText) };
}

const verbs: Readonly<Record<string, (location: Location, values: readonly Literal[]) => void>> = {
  set: (location, [value]) => setValue(location, requireValue(value)),
  merge: (location, [value]) => setValue(location, mergeValues(getValue(location), requireValue(value))),
  clear: (location) => {
    const value = getValue(location);
    if (Array.isArray(value)) setValue(location, []);
    else if (isRecord(value)) setValue(location, {});
  },
  add: (location, values) => setValue(location, [...getList(location), ...filterNewValues(location, values)]),
  prepend: (location, values) => setValue(location, [...filterNewValues(location, values), ...getList(location)]),
  remove: (location, values) => {
    const removedValues = new Set(values.map((value) => JSON.stringify(value)));
    setValue(
      location,
      getList(location).filter((item) => !removedValues.has(JSON.stringify(item))),
    );
  },
  unset: () => undefined,
  enable: (location) => setEnabled(location, true),
  disable: (location) => setEnabled(location, false),
};
const creatingVerbs = new Set(['set', 'merge', 'add', 'prepend']);
const listVerbs = new Set(['add', 'prepend', 'remove']);

function runInstruction(
  config: Record<string, unknown>,
  { verb, steps, values }: Instruction,
  budget: ScriptBudget,
): void {
  const locations = resolveLocations(config, steps, creatingVerbs.has(verb), (items) =>
    budget.countSearchedItems(items),
  );
  budget.countWrites(locations.length, values);
  if (verb === 'unset' || (verb === 'remove' && values.length === 0)) return removeLocations(locations);
  for (const location of locations) {
    if (listVerbs.has(verb)) budget.countSearchedItems(getList(location).length);
    verbs[verb]?.(location, structuredClone(values));
  }
}

function getSize(value: Literal): number {
  if (typeof value === 'string') return 1 + Math.floor(value.length / 100);
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((size, inner: Literal) => size + getSize(inner), 1);
}

/** Removes the last locations first, so that the indexes of the others stay valid. */
function removeLocations(locations: readonly Location[]): void {
  for (const { container, key } of locations.toReversed()) {
    if (Array.isArray(container)) container.splice(Number(key), 1);
    else delete container[key];
  }
}

function setEnabled(location: Location, enabled: boolean): void {
  const value = getValue(location);
  if (isRecord(value)) value['enabled'] = enabled;
  else if (value === undefined) setValue(location, { enabled });
}

function requireValue(value: Literal | undefined): Literal {
  if (value === undefined) throw new ScriptError(m.valueMissing);
  return value;
}

function getList(location: Location): readonly unknown[] {
  const value = getValue(location);
  return Array.isArray(value) ? value : [];
}

function filterNewValues(location: Location, values: readonly Literal[]): readonly Literal[] {
  const existingValues = new Set(getList(location).map((item) => JSON.stringify(item)));
  return values.filter((value) => !existingValues.has(JSON.stringify(value)));
}

function mergeValues(before: unknown, change: unknown): unknown {
  if (!isRecord(change)) return change;
  const result: Record<string, unknown> = isRecord(before) ? { ...before } : {};
  for (const [name, value] of Object.entries(change)) {
    if (value === null) delete result[name];
    else result[name] = mergeValues(result[name], value);
  }
  return result;
}
