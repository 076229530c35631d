// Trades the token for a cookie. A token after the # of the address is used at once; browsers send that part to nobody.
const problem = document.getElementById("problem");

async function login(token) {
  const answer = await fetch("/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  if (answer.ok) location.replace("/");
  else problem.textContent = (await answer.json()).error;
}

document.getElementById("login").addEventListener("submit", (event) => {
  event.preventDefault();
  login(document.getElementById("token").value.trim());
});

function given() {
  const token = decodeURIComponent(location.hash.slice(1));
  if (!token) return;
  history.replaceState(null, "", "/login");
  login(token);
}

addEventListener("hashchange", given);
given();
