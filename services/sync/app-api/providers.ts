import type { ProviderField, SyncProvider } from '../../contracts/sync/remotes.ts';
import { commandIn } from '../domain/commands.ts';

interface Option {
  readonly Name: string;
  readonly Help: string;
  readonly Provider?: string;
  readonly DefaultStr?: string;
  readonly Required: boolean;
  readonly IsPassword: boolean;
  readonly Sensitive?: boolean;
  readonly Advanced: boolean;
  readonly Exclusive: boolean;
  readonly Hide: number;
  readonly Type: string;
  readonly Examples?: readonly { readonly Value: string; readonly Help: string; readonly Provider?: string }[] | null;
}
export interface EngineProvider {
  readonly Name: string;
  readonly Description: string;
  readonly Hide?: boolean;
  readonly Options: readonly Option[] | null;
}

/** Local folders need no remote. */
const leftOut = new Set(['local']);

/** The engine's own list of providers as forms; options that would run a program are not in them. */
export function providersOf(list: readonly EngineProvider[]): SyncProvider[] {
  return list
    .filter(({ Name, Hide }) => Hide !== true && !leftOut.has(Name))
    .map(({ Name, Description, Options }) => ({
      type: Name,
      title: Description,
      // It is signed in to on a page of the provider, which gives a token.
      needsBrowser: Options?.some((option) => option.Name === 'token') === true,
      fields: (Options ?? [])
        .filter(({ Name: name, Hide }) => Hide === 0 && commandIn({ [name]: '' }) === undefined)
        .map(fieldOf),
    }));
}

function fieldOf(option: Option): ProviderField {
  return {
    name: option.Name,
    help: option.Help,
    kind: kindOf(option),
    required: option.Required,
    advanced: option.Advanced,
    default: option.DefaultStr ?? '',
    provider: option.Provider ?? '',
    choices: (option.Examples ?? []).map(({ Value, Help, Provider }) => ({
      value: Value,
      help: Help,
      provider: Provider ?? '',
    })),
  };
}

function kindOf({ Type, IsPassword, Sensitive, Examples, Exclusive, Name }: Option): ProviderField['kind'] {
  if (IsPassword || (Sensitive === true && /pass|secret|token|key/.test(Name))) return 'secret';
  if (Type === 'bool') return 'switch';
  if (Exclusive && (Examples?.length ?? 0) > 0) return 'choice';
  return 'text';
}
