import type { ProviderField, SyncProvider } from '../../contracts/sync/remotes.ts';
import { findCommandOption } from '../domain/command-options.ts';

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

/** Providers that are not offered: local folders need no remote. */
const hiddenProviders = new Set(['local']);

/** Converts the engine's providers to forms, without options that run a program. */
export function toProviders(list: readonly EngineProvider[]): SyncProvider[] {
  return list
    .filter(({ Name, Hide }) => Hide !== true && !hiddenProviders.has(Name))
    .map(({ Name, Description, Options }) => ({
      type: Name,
      title: Description,
      // The provider's page issues a token after the sign-in.
      needsBrowser: Options?.some((option) => option.Name === 'token') === true,
      fields: (Options ?? [])
        .filter(({ Name: name, Hide }) => Hide === 0 && findCommandOption({ [name]: '' }) === undefined)
        .map(toField),
    }));
}

function toField(option: Option): ProviderField {
  return {
    name: option.Name,
    help: option.Help,
    kind: getFieldKind(option),
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

function getFieldKind({ Type, IsPassword, Sensitive, Examples, Exclusive, Name }: Option): ProviderField['kind'] {
  if (IsPassword || (Sensitive === true && /pass|secret|token|key/.test(Name))) return 'secret';
  if (Type === 'bool') return 'switch';
  if (Exclusive && (Examples?.length ?? 0) > 0) return 'choice';
  return 'text';
}
