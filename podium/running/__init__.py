"""Running the submitted models on identical hardware, safely and fairly."""
