"""Run submitted models in a sandbox, and measure their runtimes."""
