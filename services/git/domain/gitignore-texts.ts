const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`;

/** What is left out of a repository, by what it is written in or worked on with. */
export const gitignoreTexts: Readonly<Record<string, string>> = {
  C: lines('*.o', '*.obj', '*.a', '*.lib', '*.so', '*.so.*', '*.dylib', '*.dll', '*.exe', '*.out', 'build/'),
  'C++': lines('*.o', '*.obj', '*.a', '*.lib', '*.so', '*.dylib', '*.dll', '*.exe', '*.gch', '*.pch', 'build/', 'CMakeCache.txt', 'CMakeFiles/'), // prettier-ignore
  Go: lines('*.exe', '*.test', '*.out', '*.prof', 'go.work', 'go.work.sum', '.env'),
  Java: lines('*.class', '*.jar', '*.war', '*.ear', 'hs_err_pid*', 'target/', 'build/', '.gradle/'),
  JetBrains: lines('.idea/', '*.iml', 'out/'),
  Linux: lines('*~', '.directory', '.Trash-*', '.nfs*'),
  macOS: lines('.DS_Store', '.AppleDouble', '.LSOverride', '._*', '.Spotlight-V100', '.Trashes'),
  Node: lines('node_modules/', 'npm-debug.log*', 'yarn-error.log*', '.npm', '.eslintcache', '*.tsbuildinfo', 'coverage/', 'dist/', '.env', '.env.*', '!.env.example'), // prettier-ignore
  Python: lines('__pycache__/', '*.py[cod]', '.venv/', 'venv/', 'build/', 'dist/', '*.egg-info/', '.pytest_cache/', '.mypy_cache/', '.ruff_cache/', '.coverage', '.env'), // prettier-ignore
  Ruby: lines('*.gem', '.bundle/', 'vendor/bundle/', 'coverage/', 'tmp/', '*.log'),
  Rust: lines('target/', '**/*.rs.bk', '*.pdb'),
  VisualStudioCode: lines('.vscode/*', '!.vscode/settings.json', '!.vscode/tasks.json', '!.vscode/launch.json', '!.vscode/extensions.json'), // prettier-ignore
  Windows: lines('Thumbs.db', 'ehthumbs.db', 'Desktop.ini', '$RECYCLE.BIN/', '*.lnk'),
};
