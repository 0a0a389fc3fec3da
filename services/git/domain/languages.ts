/** Languages by how names of their files end, by the names and in the spelling that the peer gives them. */
const endings: Readonly<Record<string, string>> = {
  Ada: 'adb ads', Assembly: 'asm s nasm', Astro: 'astro', Batchfile: 'bat cmd', C: 'c h', 'C#': 'cs csx', 'C++': 'cc cpp cxx hh hpp hxx c++ h++', CMake: 'cmake', CSS: 'css', Clojure: 'clj cljc cljs edn', CoffeeScript: 'coffee', 'Common Lisp': 'lisp lsp', Crystal: 'cr', D: 'd', Dart: 'dart', Dockerfile: 'dockerfile', Elixir: 'ex exs', Elm: 'elm', 'Emacs Lisp': 'el', Erlang: 'erl hrl', 'F#': 'fs fsi fsx', Fortran: 'f f77 f90 f95 for', GLSL: 'glsl frag vert', Go: 'go', Groovy: 'groovy gradle', HCL: 'tf hcl', HTML: 'html htm xhtml', Haskell: 'hs', Java: 'java', JavaScript: 'js mjs cjs jsx', 'Jupyter Notebook': 'ipynb', Julia: 'jl', Kotlin: 'kt kts', Less: 'less', Lua: 'lua', MATLAB: 'matlab', Makefile: 'mk mak', Nim: 'nim', Nix: 'nix', OCaml: 'ml mli', 'Objective-C': 'm', 'Objective-C++': 'mm', PHP: 'php phtml', PLpgSQL: 'pgsql', Pascal: 'pas pp dpr', Perl: 'pl pm', PowerShell: 'ps1 psm1 psd1', Prolog: 'pro', Python: 'py pyw pyi', R: 'r', Racket: 'rkt', Raku: 'raku rakumod', Ruby: 'rb rake gemspec', Rust: 'rs', SCSS: 'scss', Sass: 'sass', Scala: 'scala sc', Scheme: 'scm ss', Shell: 'sh bash zsh fish', Smarty: 'tpl', Solidity: 'sol', Svelte: 'svelte', Swift: 'swift', SystemVerilog: 'sv svh', TeX: 'tex sty cls', TypeScript: 'ts mts cts', TSX: 'tsx', VHDL: 'vhd vhdl', Vala: 'vala', Verilog: 'v', 'Vim Script': 'vim', 'Visual Basic .NET': 'vb', Vue: 'vue', WebAssembly: 'wat wast', XSLT: 'xsl xslt', Zig: 'zig',
}; // prettier-ignore
const byEnding = new Map(Object.entries(endings).flatMap(([language, all]) => all.split(' ').map((ending) => [ending, language] as const))); // prettier-ignore
const byName = new Map([['makefile', 'Makefile'], ['gnumakefile', 'Makefile'], ['dockerfile', 'Dockerfile'], ['containerfile', 'Dockerfile'], ['cmakelists.txt', 'CMake'], ['rakefile', 'Ruby'], ['gemfile', 'Ruby'], ['jenkinsfile', 'Groovy'], ['vagrantfile', 'Ruby']]); // prettier-ignore
/** What others wrote, or a program made. */
const foreign = /(^|\/)(node_modules|vendor|vendors|third_party|bower_components|dist|\.yarn)\/|\.min\.(js|css)$|(^|\/)(package-lock\.json|yarn\.lock)$/i; // prettier-ignore

/** The language that a file is written in; undefined for what is no program, or not the repository's own. */
export function languageOf(path: string): string | undefined {
  if (foreign.test(path)) return undefined;
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const dot = name.lastIndexOf('.');
  return byName.get(name) ?? (dot < 0 ? undefined : byEnding.get(name.slice(dot + 1)));
}
