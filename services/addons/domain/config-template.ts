import * as m from '#messages/addons-problems';
import {
  evaluateTemplateCondition,
  readReference,
  TemplateConditionError,
  type TemplateValues,
} from './template-condition.ts';
import { toRecord, isRecord } from '../../contracts/is-record.ts';

/** Configuration without the directives of a template, with notes about the result for the user. */
export interface ResolvedTemplate {
  readonly config: unknown;
  readonly notes: readonly string[];
}

const maxNotes = 60;
/** Maximum characters of all inserted values as JSON, because a text may refer to a large value many times. */
const maxInsertedLength = 1_000_000;
/** Represents a member that a directive removes. */
const removed = Symbol('removed');

/** Resolves the directives of a template with the default values of its inputs. */
export function resolveTemplate(metadata: Record<string, unknown>, config: unknown): ResolvedTemplate {
  const inputs = new TemplateInputs();
  inputs.add(metadata['inputs']);
  const services = listServices(metadata, config);
  const resolver = new TemplateResolver({ inputs: inputs.values, services }, inputs.ids);
  const resolved = resolver.resolve(config, []);
  const notes = [...serviceNotes(metadata, services, resolver.usesServices), ...inputs.notes, ...resolver.notes];
  return { config: resolved === removed ? {} : resolved, notes: notes.slice(0, maxNotes) };
}

/** Resolves the directives in a configuration that was copied from a template and therefore has no inputs. */
export function resolveDirectives(config: unknown): ResolvedTemplate {
  return hasDirectives(config) ? resolveTemplate({}, config) : { config, notes: [] };
}

const directives = ['__if', '__value', '__switch', '__remove'] as const;
/** The spaces at the end belong to the reference, because two quantifiers in a row would take quadratic time. */
const token = /\{\{\s*((?:inputs|services)(?:\.[^{}]+|\s*))\}\}/g;
const placeholder = /<(?:(?:required|optional)_)?template_placeholder>/i;

function hasDirectives(root: unknown): boolean {
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === 'string') {
      if (value.includes('{{inputs') || value.includes('{{services') || placeholder.test(value)) return true;
    } else if (Array.isArray(value)) pending.push(...(value as unknown[]));
    else if (isRecord(value)) {
      if (directives.some((name) => Object.hasOwn(value, name))) return true;
      pending.push(...Object.values(value));
    }
  }
  return false;
}

/** Returns the services that conditions match: the enabled ones, otherwise those of which the template requires one. */
function listServices(metadata: Record<string, unknown>, config: unknown): readonly string[] {
  const configured = isRecord(config) && Array.isArray(config['services']) ? (config['services'] as unknown[]) : [];
  const enabled = configured.flatMap((service) =>
    isRecord(service) && typeof service['id'] === 'string' && service['enabled'] !== false ? [service['id']] : [],
  );
  if (enabled.length > 0) return enabled;
  const { services, serviceRequired } = metadata;
  return serviceRequired === true && Array.isArray(services)
    ? services.filter((service): service is string => typeof service === 'string')
    : [];
}

function serviceNotes(
  { serviceRequired }: Record<string, unknown>,
  services: readonly string[],
  usesServices: boolean,
): readonly string[] {
  const names = services.map((service) => service.slice(0, 40)).join(', ');
  if (serviceRequired === true && names !== '') return [m.templateRequiresService({ names })];
  if (!usesServices) return [];
  return [names === '' ? m.templateWithoutServices() : m.templateForServices({ names })];
}

/** Default values of the inputs of a template. */
class TemplateInputs {
  readonly values: Record<string, unknown> = {};
  readonly ids = new Set<string>();
  readonly notes: string[] = [];

  add(inputs: unknown, parent: readonly string[] = [], target = this.values): void {
    for (const input of Array.isArray(inputs) ? (inputs as unknown[]) : []) {
      if (!isRecord(input) || typeof input['id'] !== 'string' || isUnsafeKey(input['id'])) continue;
      const { id, subOptions, type } = input;
      if (type === 'alert' || type === 'socials') continue;
      this.ids.add([...parent, id].join('.'));
      if (Array.isArray(subOptions)) {
        const members: Record<string, unknown> = {};
        target[id] = members;
        if (parent.length < 4) this.add(subOptions, [...parent, id], members);
        continue;
      }
      target[id] = input['default'];
      this.#describe(input, [...parent, id].join('.'));
    }
  }

  #describe({ name, required, type, default: value }: Record<string, unknown>, id: string): void {
    const label = `${typeof name === 'string' ? name.slice(0, 80) : id} (${id.slice(0, 80)})`;
    const isEmpty = value === undefined || value === null || value === '';
    if (isEmpty && required === true) this.notes.push(m.templateInputEmpty({ label }));
    else if (!isEmpty && type !== 'password')
      this.notes.push(m.templateInputDefault({ label, value: JSON.stringify(value).slice(0, 100) }));
  }
}

/** Evaluates the directives of a template. */
class TemplateResolver {
  readonly #values: TemplateValues;
  readonly #inputIds: ReadonlySet<string>;
  readonly #notes = new Set<string>();
  #insertedLength = 0;
  usesServices = false;

  constructor(values: TemplateValues, inputIds: ReadonlySet<string>) {
    this.#values = values;
    this.#inputIds = inputIds;
  }

  get notes(): readonly string[] {
    return [...this.#notes];
  }

  resolve(value: unknown, path: readonly string[]): unknown {
    if (typeof value === 'string') return this.#text(value, path);
    if (Array.isArray(value))
      return (value as unknown[]).flatMap((item, index) => this.#item(item, [...path, String(index)]));
    if (!isRecord(value)) return value;
    if (Object.hasOwn(value, '__switch')) return this.#switch(value, path);
    if (value['__remove'] === true) return removed;
    if (Object.hasOwn(value, '__value'))
      return this.#isIncluded(value, path) ? this.resolve(value['__value'], path) : removed;
    if (!this.#isIncluded(value, path)) return removed;
    const entries = Object.entries(value).flatMap(([key, inner]) => {
      if (key === '__if') return [];
      const resolved = this.resolve(inner, [...path, key]);
      return resolved === removed ? [] : [[key, resolved] as const];
    });
    return Object.fromEntries(entries);
  }

  /** Resolves an item of a list. The items of a resolved list are inserted into the outer list. */
  #item(item: unknown, path: readonly string[]): readonly unknown[] {
    const resolved = this.resolve(item, path);
    if (resolved === removed || (resolved === '' && item !== '')) return [];
    return Array.isArray(resolved) && !Array.isArray(item) ? (resolved as unknown[]) : [resolved];
  }

  #isIncluded(value: Record<string, unknown>, path: readonly string[]): boolean {
    if (!Object.hasOwn(value, '__if')) return true;
    const condition = value['__if'];
    try {
      if (typeof condition !== 'string') throw new TemplateConditionError(m.templateConditionNotText);
      this.#noteUse(condition);
      return evaluateTemplateCondition(condition, this.#values);
    } catch (error) {
      if (!(error instanceof TemplateConditionError)) throw error;
      this.#notes.add(m.templateConditionNotSupported({ path: formatPath(path), reason: error.sentence }));
      return false;
    }
  }

  #switch(
    { __switch: reference, cases, default: fallback }: Record<string, unknown>,
    path: readonly string[],
  ): unknown {
    const value = typeof reference === 'string' ? this.#read(reference, path) : undefined;
    const key = value === undefined || value === null ? undefined : formatValue(value);
    const choices = toRecord(cases);
    const chosen = key !== undefined && Object.hasOwn(choices, key) ? choices[key] : fallback;
    return chosen === undefined || chosen === null ? removed : this.resolve(chosen, path);
  }

  #text(text: string, path: readonly string[]): unknown {
    if (placeholder.test(text)) {
      this.#notes.add(m.templateValueRequired({ path: formatPath(path) }));
      return text.replaceAll(new RegExp(placeholder, 'gi'), '');
    }
    if (!text.includes('{{')) return text;
    const singleReference = new RegExp(`^${token.source}$`).exec(text)?.[1];
    if (singleReference !== undefined) return this.#read(singleReference, path) ?? '';
    return text.replaceAll(token, (_, reference: string) => formatValue(this.#read(reference, path)));
  }

  #read(reference: string, path: readonly string[]): unknown {
    const trimmed = reference.trim();
    this.#noteUse(trimmed);
    if (/^services\.[^.]+\.[^.]+$/.test(trimmed)) {
      this.#notes.add(m.templateKeyRequired({ path: formatPath(path), service: trimmed.split('.')[1] ?? '' }));
      return '';
    }
    if (this.#insertedLength > maxInsertedLength) {
      this.#notes.add(m.templateTooLong());
      return undefined;
    }
    try {
      const value = readReference(trimmed, this.#values);
      this.#insertedLength += JSON.stringify(value ?? null).length;
      return value;
    } catch (error) {
      if (!(error instanceof TemplateConditionError)) throw error;
      this.#notes.add(m.templateReferenceInvalid({ path: formatPath(path), reason: error.sentence }));
      return undefined;
    }
  }

  #noteUse(text: string): void {
    if (/\bservices\b/.test(text)) this.usesServices = true;
    for (const [, id = ''] of text.matchAll(/\binputs\.([\w.-]+)/g))
      if (!this.#inputIds.has(id)) this.#notes.add(m.templateInputUnknown({ id: id.slice(0, 80) }));
  }
}

/** Formats a value within a text; objects and missing values become empty text. */
function formatValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(formatValue).join(',');
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

function formatPath(path: readonly string[]): string {
  return path.join('.').slice(0, 120) || m.wholeConfiguration();
}

function isUnsafeKey(key: string): boolean {
  return ['__proto__', 'constructor', 'prototype'].includes(key);
}
