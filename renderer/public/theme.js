// Applies the stored theme and density before the first rendering: the other scripts run later, and the page would flash.
try {
  const choice = localStorage.getItem('homeport.theme');
  if (choice === 'light' || choice === 'dark') document.documentElement.dataset.theme = choice;
  if (localStorage.getItem('homeport.density') === 'compact') document.documentElement.dataset.density = 'compact';
} catch {
  // The browser refuses storage; the theme of the system is used.
}
