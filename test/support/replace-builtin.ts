import { syncBuiltinESMExports } from 'node:module';

/**
 * Replaces functions of a built-in module for all of its importers until disposal, to simulate another system.
 * @param module Default export of the module.
 */
export function replaceBuiltin<Module extends object>(module: Module, replacements: Partial<Module>): Disposable {
  const originals = Object.fromEntries(Object.keys(replacements).map((name) => [name, module[name as keyof Module]]));
  Object.assign(module, replacements);
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]() {
      Object.assign(module, originals);
      syncBuiltinESMExports();
    },
  };
}
