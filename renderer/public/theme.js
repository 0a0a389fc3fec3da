// Applies the stored theme before the first rendering: the other scripts run later, and the other theme would flash.
try {
  const choice = localStorage.getItem('homeport.theme');
  if (choice === 'light' || choice === 'dark') document.documentElement.dataset.theme = choice;
} catch {
  // The browser refuses storage; the theme of the system is used.
}
